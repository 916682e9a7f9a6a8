import { DYN, LazyMapValue, ListValue, Timestamp, type Type, type Value, parseTimestamp } from "@kubewright/cel";

import { type JsonObject, isJsonObject, ownMember } from "../json.js";

/**
 * Converts JSON to a CEL value lazily. Uses the type where it contains more information than the JSON.
 *
 * Upstream: `TypedToVal` and `UnstructuredToVal` without a schema, in apiserver's `pkg/cel/common`.
 */
export function dynamicValue(json: unknown, type: Type = DYN): Value {
  switch (typeof json) {
    case "string":
      return type.kind === "timestamp" ? new Timestamp(parseTimestamp(json) ?? 0n) : json;
    case "boolean":
      return json;
    case "number":
      return Number.isInteger(json) ? BigInt(json) : json;
    default:
  }
  if (Array.isArray(json)) return new DynamicList(json as unknown[], type.kind === "list" ? type.item : DYN);
  return isJsonObject(json) ? new DynamicMap(json, type) : null;
}

class DynamicList extends ListValue {
  readonly #items: readonly unknown[];
  readonly #item: Type;

  constructor(items: readonly unknown[], item: Type) {
    super();
    this.#items = items;
    this.#item = item;
  }

  get size(): number {
    return this.#items.length;
  }

  at(index: number): Value {
    return dynamicValue(this.#items[index], this.#item);
  }
}

class DynamicMap extends LazyMapValue {
  readonly #members: JsonObject;
  readonly #type: Type;
  #known: readonly string[] | undefined;

  constructor(members: JsonObject, type: Type) {
    super();
    this.#members = members;
    this.#type = type;
  }

  get size(): number {
    return this.#names().length;
  }

  protected read(key: Value): Value | undefined {
    const member = typeof key === "string" ? ownMember(this.#members, key) : undefined;
    return member === undefined ? undefined : dynamicValue(member, this.#typeOf(key as string));
  }

  keys(): Iterable<Value> {
    return this.#names();
  }

  override get objectType(): Type | undefined {
    return this.#type.kind === "object" ? this.#type : undefined;
  }

  #names(): readonly string[] {
    return (this.#known ??= Object.keys(this.#members).filter((name) => this.#members[name] !== undefined));
  }

  #typeOf(name: string): Type {
    const type = this.#type;
    if (type.kind === "object") return type.fields.get(name) ?? DYN;
    return type.kind === "map" ? type.value : DYN;
  }
}

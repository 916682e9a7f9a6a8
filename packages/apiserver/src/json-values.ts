import { LazyMapValue, ListValue, type Type, type Value } from "@kubewright/cel";

import { type JsonObject, ownMember } from "./json.js";

/** A JSON list as a CEL value. Converts its items on access. */
export class JsonListValue extends ListValue {
  readonly #items: readonly unknown[];
  readonly #convert: (item: unknown) => Value;

  constructor(items: readonly unknown[], convert: (item: unknown) => Value) {
    super();
    this.#items = items;
    this.#convert = convert;
  }

  get size(): number {
    return this.#items.length;
  }

  at(index: number): Value {
    return this.#convert(this.#items[index]);
  }
}

/** A JSON object as a CEL value. Converts its members on access. */
export class JsonMapValue extends LazyMapValue {
  readonly #members: JsonObject;
  readonly #convert: (member: unknown, name: string) => Value;
  readonly #type: Type | undefined;
  #names: readonly string[] | undefined;

  /** @param type - The type of an object with known fields. Default: a map. */
  constructor(members: JsonObject, convert: (member: unknown, name: string) => Value, type?: Type) {
    super();
    this.#members = members;
    this.#convert = convert;
    this.#type = type;
  }

  override get objectType(): Type | undefined {
    return this.#type;
  }

  get size(): number {
    return this.keys().length;
  }

  protected read(key: Value): Value | undefined {
    const member = typeof key === "string" ? ownMember(this.#members, key) : undefined;
    return member === undefined ? undefined : this.#convert(member, key as string);
  }

  keys(): readonly string[] {
    return (this.#names ??= Object.keys(this.#members).filter((name) => this.#members[name] !== undefined));
  }
}

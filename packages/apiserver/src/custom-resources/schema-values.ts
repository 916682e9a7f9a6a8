import type { DeclaredType } from "../cel/declared-type.js";
import { parseTimestamp } from "../cel/time.js";
import { BOOL, BYTES, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP, type Type, listOf, mapOf } from "../cel/types.js";
import {
  Duration,
  EvaluationProblem,
  ListValue,
  MapValue,
  ReadMap,
  Timestamp,
  type Value,
  fingerprint,
} from "../cel/values.js";
import { isJsonObject, ownMember } from "../json.js";
import { formatError, parseLooseDuration } from "../validation/string-formats.js";
import type { StructuralSchema } from "./structural-schema.js";

/** How expressions see the values of a schema. */
export interface SchemaBinding {
  readonly declared: DeclaredType;
  /** @throws EvaluationProblem for a text that is not of its format. */
  value(json: unknown): Value;
}

/** Bytes of a request, from which the largest values of unbounded schemas follow. */
export const MOST_REQUEST_BYTES = 3 * 1024 * 1024;

const LEAST_STRING = 2;
const LEAST_BOOL = 4;
const LEAST_NUMBER = 1;

/**
 * `undefined` for a schema that says too little.
 *
 * Upstream: `SchemaDeclType` in apiserver's `pkg/cel/common/schemas.go`, `UnstructuredToVal` in `values.go`.
 *
 * @param name - Of the type, in error messages.
 * @param isResource - Has apiVersion, kind and metadata's names, named in the schema or not.
 */
export function bindSchema(
  schema: StructuralSchema,
  name: string,
  isResource = schema["x-kubernetes-embedded-resource"] === true,
): SchemaBinding | undefined {
  if (schema["x-kubernetes-int-or-string"] === true) {
    return {
      declared: { type: DYN, most: MOST_REQUEST_BYTES - 2, leastBytes: 1 },
      value: (json) => (typeof json === "number" ? numberValue(json) : (json as Value)),
    };
  }
  switch (isResource ? "object" : schema.type) {
    case "array":
      return bindList(schema, name);
    case "object":
      return typeof schema.additionalProperties === "object" && !isResource
        ? bindMap(schema.additionalProperties, schema, name)
        : bindObject(isResource ? withResourceMembers(schema) : schema, name);
    case "string":
      return bindString(schema);
    case "boolean":
      return scalar(BOOL, 0, LEAST_BOOL, (json) => json as Value);
    case "number":
      return scalar(DOUBLE, 0, LEAST_NUMBER, (json) => json as Value);
    case "integer":
      return scalar(INT, 0, LEAST_NUMBER, (json) => (typeof json === "number" ? numberValue(json) : (json as Value)));
    default:
      return undefined;
  }
}

function scalar(type: Type, most: number, leastBytes: number, convert: (json: unknown) => Value): SchemaBinding {
  return { declared: { type, most, leastBytes }, value: (json) => (json === null ? null : convert(json)) };
}

function numberValue(json: number): Value {
  return Number.isInteger(json) ? BigInt(json) : json;
}

const META_NAMES: StructuralSchema = {
  type: "object",
  properties: { name: { type: "string" }, generateName: { type: "string" } },
};

function withResourceMembers(schema: StructuralSchema): StructuralSchema {
  const text: StructuralSchema = { type: "string" };
  return { ...schema, properties: { ...schema.properties, kind: text, apiVersion: text, metadata: META_NAMES } };
}

function bindList(schema: StructuralSchema, name: string): SchemaBinding | undefined {
  const item = schema.items === undefined ? undefined : bindSchema(schema.items, `${name}.@idx`);
  if (item === undefined) return undefined;
  const most =
    schema.maxItems === undefined
      ? Math.floor((MOST_REQUEST_BYTES - 2) / (item.declared.leastBytes + 1))
      : Math.max(0, schema.maxItems);
  return {
    declared: { type: listOf(item.declared.type), most, leastBytes: 2, item: item.declared },
    value: (json) => (Array.isArray(json) ? new JsonList(json as unknown[], item, schema) : unfit(json)),
  };
}

function bindMap(values: StructuralSchema, schema: StructuralSchema, name: string): SchemaBinding | undefined {
  const item = bindSchema(values, `${name}.@elem`);
  if (item === undefined) return undefined;
  const most =
    schema.maxProperties === undefined
      ? Math.floor((MOST_REQUEST_BYTES - 2) / (item.declared.leastBytes + 6))
      : Math.max(0, schema.maxProperties);
  return {
    declared: { type: mapOf(STRING, item.declared.type), most, leastBytes: 2, item: item.declared },
    value: (json) => (isJsonObject(json) ? new JsonMap(json, item) : unfit(json)),
  };
}

interface BoundMember {
  /** As the data spells it. */
  readonly key: string;
  readonly binding: SchemaBinding;
}

function bindObject(schema: StructuralSchema, name: string): SchemaBinding {
  const members = new Map<string, BoundMember>();
  let leastBytes = 2;
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const binding = bindSchema(property, `${name}.${key}`);
    if (binding === undefined) continue;
    const escaped = escapeName(key);
    if (escaped !== undefined) members.set(escaped, { key, binding });
    // Reserved, and written as it is in so many rules that both are read.
    if (key === BOTH_WAYS) members.set(key, { key, binding });
    if (schema.required?.includes(key) === true && property.default === undefined)
      leastBytes += key.length + binding.declared.leastBytes + 4;
  }
  const fields = new Map([...members].map(([key, { binding }]) => [key, binding.declared]));
  const type: Type = {
    kind: "object",
    name,
    fields: new Map([...fields].map(([key, declared]) => [key, declared.type])),
  };
  return {
    // Upstream: an object counts as nothing, however many members it has.
    declared: { type, most: 0, leastBytes, fields },
    value: (json) => (isJsonObject(json) ? new JsonObjectValue(json, members, type) : unfit(json)),
  };
}

function bindString(schema: StructuralSchema): SchemaBinding {
  const longest = schema.maxLength === undefined ? MOST_REQUEST_BYTES - 2 : Math.max(0, schema.maxLength);
  switch (schema.format) {
    case "byte":
      return scalar(BYTES, longest, LEAST_STRING, (json) => bytesOf(json as string));
    case "duration":
      return scalar(DURATION, LONGEST_DURATION, LEAST_STRING, (json) => durationOf(json as string));
    case "date":
      return scalar(TIMESTAMP, LONGEST_DATE, LONGEST_DATE, (json) => dateOf(json as string));
    case "date-time":
      return scalar(TIMESTAMP, LONGEST_TIME, LEAST_TIME, (json) => timeOf(json as string));
    default: {
      const most =
        schema.maxLength !== undefined || schema.enum === undefined || schema.enum.length === 0
          ? longest
          : Math.max(...schema.enum.map((value) => (typeof value === "string" ? value.length : 0)));
      return scalar(STRING, most, LEAST_STRING, (json) => json as Value);
    }
  }
}

const LONGEST_DURATION = 32;
const LONGEST_DATE = 12;
const LONGEST_TIME = 27;
const LEAST_TIME = 22;

function unfit(json: unknown): Value {
  if (json === null) return null;
  throw new EvaluationProblem(`invalid data, got: ${typeof json}`);
}

function bytesOf(text: string): Value {
  if (formatError("byte", text)) throw new EvaluationProblem(`Invalid byte formatted string ${text}`);
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function durationOf(text: string): Value {
  const nanos = parseLooseDuration(text);
  if (nanos === undefined) throw new EvaluationProblem(`Invalid duration ${text}: unable to parse ${text} as duration`);
  return new Duration(nanos);
}

function dateOf(text: string): Value {
  const nanos = parseTimestamp(`${text}T00:00:00Z`);
  if (nanos === undefined) throw new EvaluationProblem(`Invalid date formatted string ${text}`);
  return new Timestamp(nanos);
}

function timeOf(text: string): Value {
  const nanos = parseTimestamp(text.replace("t", "T").replace("z", "Z"));
  if (nanos === undefined) throw new EvaluationProblem(`Invalid date-time formatted string ${text}`);
  return new Timestamp(nanos);
}

/** A list of JSON, read when asked for. Sets and map lists compare without order, and `+` merges them. */
class JsonList extends ListValue {
  readonly #items: readonly unknown[];
  readonly #binding: SchemaBinding;
  readonly #schema: StructuralSchema;
  /** Of items, by what tells them apart. */
  #places: ReadonlyMap<string, number> | undefined;
  #added: { readonly other: ListValue; readonly sum: ListValue } | undefined;

  constructor(items: readonly unknown[], binding: SchemaBinding, schema: StructuralSchema) {
    super();
    this.#items = items;
    this.#binding = binding;
    this.#schema = schema;
  }

  get size(): number {
    return this.#items.length;
  }

  at(index: number): Value {
    return this.#binding.value(this.#items[index]);
  }

  override equals(other: ListValue): boolean {
    const listType = this.#schema["x-kubernetes-list-type"];
    if (listType !== "set" && listType !== "map") return super.equals(other);
    if (this.size !== other.size) return false;
    const theirs = new Set([...other.all()].map(fingerprint));
    for (const item of this.all()) if (!theirs.has(fingerprint(item))) return false;
    return true;
  }

  override plus(other: ListValue): ListValue {
    const listType = this.#schema["x-kubernetes-list-type"];
    if (listType !== "set" && listType !== "map") return super.plus(other);
    // A loop adds to the same list again and again, or the same list.
    if (other !== this.#added?.other) this.#added = { other, sum: this.#merged(other) };
    return this.#added.sum;
  }

  #merged(other: ListValue): ListValue {
    this.#places ??= new Map([...this.all()].map((item, index) => [this.#identity(item), index]));
    const replaced = new Map<number, Value>();
    const appended = new Map<string, Value>();
    for (const item of other.all()) {
      const identity = this.#identity(item);
      const place = this.#places.get(identity);
      if (place === undefined) appended.set(identity, item);
      else replaced.set(place, item);
    }
    return new MergedList(this, replaced, [...appended.values()]);
  }

  #identity(item: Value): string {
    if (this.#schema["x-kubernetes-list-type"] === "set" || !(item instanceof MapValue)) return fingerprint(item);
    return JSON.stringify(
      (this.#schema["x-kubernetes-list-map-keys"] ?? []).map((key) => {
        const value = item.get(escapeName(key) ?? key);
        return value === undefined ? null : fingerprint(value);
      }),
    );
  }
}

/** A set or a map list, with another one's items where its own were that they stand for, and behind them. */
class MergedList extends ListValue {
  readonly #list: ListValue;
  readonly #replaced: ReadonlyMap<number, Value>;
  readonly #appended: readonly Value[];

  constructor(list: ListValue, replaced: ReadonlyMap<number, Value>, appended: readonly Value[]) {
    super();
    this.#list = list;
    this.#replaced = replaced;
    this.#appended = appended;
  }

  get size(): number {
    return this.#list.size + this.#appended.length;
  }

  at(index: number): Value {
    const own = this.#list.size;
    if (index >= own) return this.#appended[index - own]!;
    return this.#replaced.get(index) ?? this.#list.at(index);
  }
}

class JsonMap extends ReadMap {
  readonly #entries: Readonly<Record<string, unknown>>;
  #keys: readonly string[] | undefined;
  readonly #binding: SchemaBinding;

  constructor(entries: Readonly<Record<string, unknown>>, binding: SchemaBinding) {
    super();
    this.#entries = entries;
    this.#binding = binding;
  }

  get size(): number {
    return this.keys().length;
  }

  protected read(key: Value): Value | undefined {
    if (typeof key !== "string") return undefined;
    const value = ownMember(this.#entries, key);
    return value === undefined ? undefined : this.#binding.value(value);
  }

  keys(): readonly string[] {
    return (this.#keys ??= Object.keys(this.#entries));
  }
}

/** An object with members that the schema names; a null one counts as absent. */
class JsonObjectValue extends ReadMap {
  readonly #json: Readonly<Record<string, unknown>>;
  readonly #members: ReadonlyMap<string, BoundMember>;
  readonly #type: Type;

  constructor(json: Readonly<Record<string, unknown>>, members: ReadonlyMap<string, BoundMember>, type: Type) {
    super();
    this.#type = type;
    this.#json = json;
    this.#members = members;
  }

  override get objectType(): Type {
    return this.#type;
  }

  get size(): number {
    return [...this.keys()].length;
  }

  protected read(key: Value): Value | undefined {
    const member = typeof key === "string" ? this.#members.get(key) : undefined;
    if (member === undefined) return undefined;
    const value = ownMember(this.#json, member.key);
    return value === undefined || value === null ? undefined : member.binding.value(value);
  }

  *keys(): Generator<Value> {
    for (const [name, { key }] of this.#members)
      if (name !== BOTH_WAYS && (ownMember(this.#json, key) ?? null) !== null) yield name;
  }
}

const BOTH_WAYS = "namespace";

const RESERVED: ReadonlySet<string> = new Set([
  "true",
  "false",
  "null",
  "in",
  "as",
  "break",
  "const",
  "continue",
  "else",
  "for",
  "function",
  "if",
  "import",
  "let",
  "loop",
  "package",
  "namespace",
  "return",
  "var",
  "void",
  "while",
]);
const ESCAPES: Readonly<Record<string, string>> = {
  __: "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};

/** How an expression writes the name of a member; `undefined` when it cannot. Upstream: `cel.Escape`. */
export function escapeName(name: string): string | undefined {
  if (name === "" || /^\d/.test(name) || /[^\w./-]/.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  return name.replace(/__|[./-]/g, (part) => ESCAPES[part]!);
}

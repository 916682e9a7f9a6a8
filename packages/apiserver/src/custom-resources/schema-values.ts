import type { DeclaredType } from "../cel/declared-type.js";
import { parseTimestamp } from "../cel/time.js";
import { BOOL, BYTES, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP, type Type, listOf, mapOf } from "../cel/types.js";
import {
  Duration,
  EvaluationProblem,
  ListValue,
  MapValue,
  LazyMapValue,
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
export const MAX_REQUEST_BYTES = 3 * 1024 * 1024;

const MIN_STRING_BYTES = 2;
const MIN_BOOLEAN_BYTES = 4;
const MIN_NUMBER_BYTES = 1;

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
      declared: { type: DYN, max: MAX_REQUEST_BYTES - 2, minBytes: 1 },
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
      return scalar(BOOL, 0, MIN_BOOLEAN_BYTES, (json) => json as Value);
    case "number":
      return scalar(DOUBLE, 0, MIN_NUMBER_BYTES, (json) => json as Value);
    case "integer":
      return scalar(INT, 0, MIN_NUMBER_BYTES, (json) =>
        typeof json === "number" ? numberValue(json) : (json as Value),
      );
    default:
      return undefined;
  }
}

function scalar(type: Type, max: number, minBytes: number, convert: (json: unknown) => Value): SchemaBinding {
  return { declared: { type, max, minBytes }, value: (json) => (json === null ? null : convert(json)) };
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
  const max =
    schema.maxItems === undefined
      ? Math.floor((MAX_REQUEST_BYTES - 2) / (item.declared.minBytes + 1))
      : Math.max(0, schema.maxItems);
  return {
    declared: { type: listOf(item.declared.type), max, minBytes: 2, item: item.declared },
    value: (json) => (Array.isArray(json) ? new JsonList(json as unknown[], item, schema) : unexpectedData(json)),
  };
}

function bindMap(values: StructuralSchema, schema: StructuralSchema, name: string): SchemaBinding | undefined {
  const item = bindSchema(values, `${name}.@elem`);
  if (item === undefined) return undefined;
  const max =
    schema.maxProperties === undefined
      ? Math.floor((MAX_REQUEST_BYTES - 2) / (item.declared.minBytes + 6))
      : Math.max(0, schema.maxProperties);
  return {
    declared: { type: mapOf(STRING, item.declared.type), max, minBytes: 2, item: item.declared },
    value: (json) => (isJsonObject(json) ? new JsonMap(json, item) : unexpectedData(json)),
  };
}

interface BoundMember {
  /** As the data spells it. */
  readonly key: string;
  readonly binding: SchemaBinding;
}

function bindObject(schema: StructuralSchema, name: string): SchemaBinding {
  const members = new Map<string, BoundMember>();
  let minBytes = 2;
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const binding = bindSchema(property, `${name}.${key}`);
    if (binding === undefined) continue;
    const escaped = escapeName(key);
    if (escaped !== undefined) members.set(escaped, { key, binding });
    // Reserved, and written as it is in so many rules that both are read.
    if (key === UNESCAPED_RESERVED_NAME) members.set(key, { key, binding });
    if (schema.required?.includes(key) === true && property.default === undefined)
      minBytes += key.length + binding.declared.minBytes + 4;
  }
  const fields = new Map([...members].map(([key, { binding }]) => [key, binding.declared]));
  const type: Type = {
    kind: "object",
    name,
    fields: new Map([...fields].map(([key, declared]) => [key, declared.type])),
  };
  return {
    // Upstream: an object counts as nothing, however many members it has.
    declared: { type, max: 0, minBytes, fields },
    value: (json) => (isJsonObject(json) ? new JsonObjectValue(json, members, type) : unexpectedData(json)),
  };
}

function bindString(schema: StructuralSchema): SchemaBinding {
  const maxLength = schema.maxLength === undefined ? MAX_REQUEST_BYTES - 2 : Math.max(0, schema.maxLength);
  switch (schema.format) {
    case "byte":
      return scalar(BYTES, maxLength, MIN_STRING_BYTES, (json) => bytesOf(json as string));
    case "duration":
      return scalar(DURATION, MAX_DURATION_LENGTH, MIN_STRING_BYTES, (json) => durationOf(json as string));
    case "date":
      return scalar(TIMESTAMP, MAX_DATE_LENGTH, MAX_DATE_LENGTH, (json) => dateOf(json as string));
    case "date-time":
      return scalar(TIMESTAMP, MAX_DATE_TIME_LENGTH, MIN_DATE_TIME_BYTES, (json) => timeOf(json as string));
    default: {
      const max =
        schema.maxLength !== undefined || schema.enum === undefined || schema.enum.length === 0
          ? maxLength
          : Math.max(...schema.enum.map((value) => (typeof value === "string" ? value.length : 0)));
      return scalar(STRING, max, MIN_STRING_BYTES, (json) => json as Value);
    }
  }
}

const MAX_DURATION_LENGTH = 32;
const MAX_DATE_LENGTH = 12;
const MAX_DATE_TIME_LENGTH = 27;
const MIN_DATE_TIME_BYTES = 22;

function unexpectedData(json: unknown): Value {
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
  #indexes: ReadonlyMap<string, number> | undefined;
  #lastMerge: { readonly other: ListValue; readonly sum: ListValue } | undefined;

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
    const otherItems = new Set([...other.all()].map(fingerprint));
    for (const item of this.all()) if (!otherItems.has(fingerprint(item))) return false;
    return true;
  }

  override plus(other: ListValue): ListValue {
    const listType = this.#schema["x-kubernetes-list-type"];
    if (listType !== "set" && listType !== "map") return super.plus(other);
    // A loop adds to the same list again and again, or the same list.
    if (other !== this.#lastMerge?.other) this.#lastMerge = { other, sum: this.#merged(other) };
    return this.#lastMerge.sum;
  }

  #merged(other: ListValue): ListValue {
    this.#indexes ??= new Map([...this.all()].map((item, index) => [this.#identity(item), index]));
    const replaced = new Map<number, Value>();
    const appended = new Map<string, Value>();
    for (const item of other.all()) {
      const identity = this.#identity(item);
      const index = this.#indexes.get(identity);
      if (index === undefined) appended.set(identity, item);
      else replaced.set(index, item);
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
    const ownSize = this.#list.size;
    if (index >= ownSize) return this.#appended[index - ownSize]!;
    return this.#replaced.get(index) ?? this.#list.at(index);
  }
}

class JsonMap extends LazyMapValue {
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
class JsonObjectValue extends LazyMapValue {
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
      if (name !== UNESCAPED_RESERVED_NAME && (ownMember(this.#json, key) ?? null) !== null) yield name;
  }
}

const UNESCAPED_RESERVED_NAME = "namespace";

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

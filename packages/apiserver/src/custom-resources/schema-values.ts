import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  type DeclaredType,
  Duration,
  EvaluationProblem,
  INT,
  LazyMapValue,
  ListValue,
  MapValue,
  STRING,
  TIMESTAMP,
  Timestamp,
  type Type,
  type Value,
  fingerprint,
  formatError,
  listOf,
  mapOf,
  parseLooseDuration,
  parseTimestamp,
} from "@kubewright/cel";

import { isJsonObject, ownMember } from "../json.js";
import { JsonListValue, JsonMapValue } from "../json-values.js";
import type { StructuralSchema } from "./structural-schema.js";

/** Maps the JSON values of a schema to CEL values. */
export interface SchemaBinding {
  readonly declared: DeclaredType;
  /**
   * Converts a JSON value.
   *
   * @throws EvaluationProblem when a string does not have its format
   */
  readonly value: (json: unknown) => Value;
}

/** The maximum size of a request, which bounds the values of unbounded schemas. */
export const MAX_REQUEST_BYTES = 3 * 1024 * 1024;

const MIN_STRING_BYTES = 2;
const MIN_BOOLEAN_BYTES = 4;
const MIN_NUMBER_BYTES = 1;

/**
 * Creates the binding of a schema; `undefined` when the schema has no usable type.
 *
 * Upstream: `SchemaDeclType` in apiserver's `pkg/cel/common/schemas.go`, `UnstructuredToVal` in `values.go`.
 *
 * @param name - The type name in error messages.
 * @param isResource - Adds apiVersion, kind, metadata.name and metadata.generateName, even when the schema does not
 * declare them. Default: whether the schema is an embedded resource.
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
    value: (json) => (Array.isArray(json) ? new SchemaList(json as unknown[], item, schema) : unexpectedData(json)),
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
    value: (json) => (isJsonObject(json) ? new JsonMapValue(json, item.value) : unexpectedData(json)),
  };
}

interface BoundMember {
  /** The name in the JSON data. */
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
    // The name is reserved, but so many rules use it unescaped that both spellings are supported.
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
    // Upstream: an object has size 0, regardless of its number of fields.
    declared: { type, max: 0, minBytes, fields },
    value: (json) => (isJsonObject(json) ? new SchemaObject(json, members, type) : unexpectedData(json)),
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

/** A JSON list whose items are converted on access. Sets and map lists compare without order, and `+` merges them. */
class SchemaList extends JsonListValue {
  readonly #schema: StructuralSchema;
  /** The indexes of items by identity. */
  #indexes: ReadonlyMap<string, number> | undefined;
  #lastMerge: { readonly other: ListValue; readonly sum: ListValue } | undefined;

  constructor(items: readonly unknown[], { value }: SchemaBinding, schema: StructuralSchema) {
    super(items, value);
    this.#schema = schema;
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
    // Caches the last merge, because a loop may add the same list repeatedly.
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

/**
 * A set or map list merged with another list. Items of the other list replace items with the same identity, or are
 * appended.
 */
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

/** A JSON object with the fields of its schema. A null field counts as absent. */
class SchemaObject extends LazyMapValue {
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

/** Returns the name of a field in expressions; `undefined` when the name cannot be escaped. Upstream: `cel.Escape`. */
export function escapeName(name: string): string | undefined {
  if (name === "" || /^\d/.test(name) || /[^\w./-]/.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  return name.replace(/__|[./-]/g, (part) => ESCAPES[part]!);
}

import { type FieldErrors, omittedValue } from "../field-errors.js";
import { type Path, pathText } from "../telling.js";
import { type JsonObject, isJsonObject, jsonEqual, ownMember, setMember, sortedJson } from "../json.js";
import { MAX_NESTING, TOO_DEEP } from "../nesting.js";
import type { Patterns } from "./patterns.js";
import { DecodeError } from "../schema/decode.js";
import { type FieldSchema, type ObjectSchema, type Schema, anySchema } from "../schema/schema.js";

/** An OpenAPI v3 schema as a CustomResourceDefinition carries it. */
export interface StructuralSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema | boolean;
  readonly items?: StructuralSchema;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly multipleOf?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
}

/**
 * A deep copy without what the schema does not know.
 *
 * @param unknown - Called with the path of everything that is left out; the array changes afterwards.
 * @throws DecodeError when more objects and lists are within each other than {@link MAX_NESTING}.
 */
export function prune(
  schema: StructuralSchema | undefined,
  value: unknown,
  unknown?: (path: Path) => void,
  path: (string | number)[] = [],
): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (path.length >= MAX_NESTING) throw new DecodeError(TOO_DEEP);
  if (Array.isArray(value)) {
    const items = schema?.items ?? kept(schema);
    return value.map((item: unknown, index) => {
      path.push(index);
      const pruned = prune(items, item, unknown, path);
      path.pop();
      return pruned;
    });
  }
  const isResource = path.length === 0 || schema?.["x-kubernetes-embedded-resource"] === true;
  const result: JsonObject = {};
  for (const key of Object.keys(value)) {
    const member = memberOf(schema, key, isResource);
    path.push(key);
    if (member === undefined) unknown?.(path);
    else setMember(result, key, prune(member, (value as JsonObject)[key], unknown, path));
    path.pop();
  }
  return result;
}

const ANYTHING: StructuralSchema = { "x-kubernetes-preserve-unknown-fields": true };

function kept(schema: StructuralSchema | undefined): StructuralSchema | undefined {
  return schema?.["x-kubernetes-preserve-unknown-fields"] === true ? ANYTHING : undefined;
}

function memberOf(
  schema: StructuralSchema | undefined,
  key: string,
  isResource: boolean,
): StructuralSchema | undefined {
  const { properties, additionalProperties } = schema ?? {};
  if (isResource && (key === "apiVersion" || key === "kind" || key === "metadata")) return ANYTHING;
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  if (typeof additionalProperties === "object") return additionalProperties;
  return additionalProperties === true ? ANYTHING : kept(schema);
}

/** Fills in defaults, in place. */
export function applyStructuralDefaults(schema: StructuralSchema | undefined, value: unknown): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    for (const item of value) applyStructuralDefaults(schema.items, item);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const [key, member] of Object.entries(schema.properties ?? {})) {
    const current = ownMember(value, key);
    if (member.default !== undefined && (current === undefined || (current === null && member.nullable !== true)))
      setMember(value, key, structuredClone(member.default));
    // A null where none may be, and no default to stand in for it, is nothing.
    else if (current === null && member.nullable !== true) delete value[key];
  }
  for (const key of Object.keys(value)) applyStructuralDefaults(memberOf(schema, key, false), value[key]);
}

/**
 * Instructions of patterns times characters they are matched with, for one object: some seconds at the worst. Deliberate:
 * upstream takes as long as it takes.
 */
const MOST_STEPS = 100_000_000;

/** Upstream: kube-openapi `validation/validate`, as apiextensions words its errors. */
export function validateStructural(
  schema: StructuralSchema | undefined,
  value: unknown,
  errors: FieldErrors,
  patterns: Patterns,
): void {
  new Validation(errors, patterns).validate(schema, value);
}

class Validation {
  readonly #errors: FieldErrors;
  readonly #patterns: Patterns;
  #steps = 0;
  readonly #enums = new Map<StructuralSchema, ReadonlySet<string>>();
  /** Names and indexes from the root to the value at hand. */
  readonly #path: (string | number)[] = [];

  constructor(errors: FieldErrors, patterns: Patterns) {
    this.#errors = errors;
    this.#patterns = patterns;
  }

  validate(schema: StructuralSchema | undefined, value: unknown): void {
    if (this.#errors.isFull || schema === undefined || (value === null && schema.nullable === true)) return;
    if (!this.#validateType(schema, value)) return;
    if (schema.enum !== undefined && !this.#isListed(schema, schema.enum, value)) {
      this.#errors.notSupported(
        this.#field,
        value,
        schema.enum.map((allowed) => String(allowed)),
      );
    }
    if (typeof value === "number") this.#validateNumber(schema, value);
    else if (typeof value === "string") this.#validateString(schema, value);
    else if (Array.isArray(value)) this.#validateList(schema, value);
    else if (isJsonObject(value)) this.#validateObject(schema, value);
  }

  #isListed(schema: StructuralSchema, allowed: readonly unknown[], value: unknown): boolean {
    if (allowed.length <= FEW_VALUES) return allowed.some((one) => jsonEqual(one, value));
    let texts = this.#enums.get(schema);
    if (texts === undefined) this.#enums.set(schema, (texts = new Set(allowed.map(sortedJson))));
    return texts.has(sortedJson(value));
  }

  /** Made only for what is wrong: the values may be many, and deep down. */
  get #field(): string {
    return pathText(this.#path);
  }

  #at<T>(step: string | number, action: () => T): T {
    this.#path.push(step);
    const result = action();
    this.#path.pop();
    return result;
  }

  #validateList(schema: StructuralSchema, value: readonly unknown[]): void {
    const { minItems, maxItems } = schema;
    if (maxItems !== undefined && value.length > maxItems) this.#errors.tooMany(this.#field, value.length, maxItems);
    if (minItems !== undefined && value.length < minItems) {
      const field = this.#field;
      this.#errors.invalid(field, value.length, `${field} in body should have at least ${minItems} items`);
    }
    this.#validateUnique(schema, value);
    if (schema.items !== undefined)
      value.forEach((item, index) => this.#at(index, () => this.validate(schema.items, item)));
  }

  #validateObject(schema: StructuralSchema, value: JsonObject): void {
    const { minProperties, maxProperties } = schema;
    const size = Object.keys(value).length;
    if (maxProperties !== undefined && size > maxProperties) this.#errors.tooMany(this.#field, size, maxProperties);
    if (minProperties !== undefined && size < minProperties) {
      const field = this.#field;
      this.#errors.invalid(field, size, `${field} in body should have at least ${minProperties} properties`);
    }
    const missing = (name: string): void => this.#errors.required(this.#at(name, () => this.#field));
    if (schema["x-kubernetes-embedded-resource"] === true)
      for (const name of ["apiVersion", "kind"]) if (!ownMember(value, name)) missing(name);
    for (const name of schema.required ?? []) if (ownMember(value, name) === undefined) missing(name);
    const isResource = this.#path.length === 0;
    for (const key of Object.keys(value))
      this.#at(key, () => this.validate(memberOf(schema, key, isResource), value[key]));
  }

  /** Elements of a set, and of a map list by their keys, may not repeat. */
  #validateUnique(schema: StructuralSchema, value: readonly unknown[]): void {
    const listType = schema["x-kubernetes-list-type"];
    if (listType !== "set" && listType !== "map") return;
    const keys = schema["x-kubernetes-list-map-keys"] ?? [];
    const seen = new Set<string>();
    value.forEach((item, index) => {
      const identity =
        listType === "set"
          ? item
          : Object.fromEntries(keys.map((key) => [key, isJsonObject(item) ? (ownMember(item, key) ?? null) : null]));
      const text = JSON.stringify(identity);
      if (seen.has(text)) this.#errors.duplicate(`${this.#field}[${index}]`, identity);
      seen.add(text);
    });
  }

  #validateType(schema: StructuralSchema, value: unknown): boolean {
    const wanted =
      schema["x-kubernetes-int-or-string"] === true
        ? ["integer", "string"]
        : schema.type === undefined
          ? []
          : [schema.type];
    const actual =
      value === null
        ? "null"
        : Array.isArray(value)
          ? "array"
          : typeof value === "number"
            ? Number.isInteger(value)
              ? "integer"
              : "number"
            : isJsonObject(value)
              ? "object"
              : typeof value;
    if (wanted.length === 0 || wanted.includes(actual) || (actual === "integer" && wanted.includes("number")))
      return true;
    const field = this.#field;
    this.#errors.add({
      type: "TypeInvalid",
      field,
      value: actual,
      detail: `${field} in body must be of type ${wanted.join(",")}: ${JSON.stringify(actual)}`,
    });
    if (actual === "number")
      this.#errors.invalid(
        "<nil>",
        "",
        `Checked value must be of type ${wanted.join(",")} (default format) in ${field}`,
      );
    return false;
  }

  #validateNumber(
    { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: StructuralSchema,
    value: number,
  ): void {
    if (multipleOf !== undefined && value % multipleOf !== 0) this.#shouldBe(value, `a multiple of ${multipleOf}`);
    if (minimum !== undefined && (exclusiveMinimum === true ? value <= minimum : value < minimum))
      this.#shouldBe(value, `greater than ${exclusiveMinimum === true ? "" : "or equal to "}${minimum}`);
    if (maximum !== undefined && (exclusiveMaximum === true ? value >= maximum : value > maximum))
      this.#shouldBe(value, `less than ${exclusiveMaximum === true ? "" : "or equal to "}${maximum}`);
  }

  #shouldBe(value: unknown, what: string): void {
    const field = this.#field;
    this.#errors.invalid(field, value, `${field} in body should be ${what}`);
  }

  #validateString({ minLength, maxLength, pattern, format }: StructuralSchema, value: string): void {
    const length = minLength === undefined && maxLength === undefined ? 0 : characterCount(value);
    if (maxLength !== undefined && length > maxLength) this.#errors.tooLong(this.#field, maxLength);
    if (minLength !== undefined && length < minLength) this.#shouldBe(value, `at least ${minLength} chars long`);
    if ((format === "date-time" || format === "date") && !isFormatted(format, value)) {
      const field = this.#field;
      this.#errors.add({
        type: "TypeInvalid",
        field,
        value,
        detail: `${field} in body must be of type ${format}: ${JSON.stringify(value)}`,
      });
    }
    if (pattern !== undefined) this.#validatePattern(pattern, value);
  }

  #validatePattern(source: string, value: string): void {
    const pattern = this.#patterns.get(source);
    if (pattern === undefined) return;
    this.#steps += pattern.instructions * value.length;
    if (this.#steps > MOST_STEPS) {
      const field = this.#field;
      this.#errors.invalid(field, omittedValue, `${field} in body is too long to be matched with '${source}'`);
    } else if (!pattern.test(value)) {
      const field = this.#field;
      this.#errors.invalid(field, value, `${field} in body should match '${source}'`);
    }
  }
}

/** Up to so many values, a list is looked through as it is. */
const FEW_VALUES = 16;

/** Go's runes. */
function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function isFormatted(format: "date-time" | "date", value: string): boolean {
  const pattern =
    format === "date" ? /^\d{4}-\d\d-\d\d$/ : /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
  return pattern.test(value) && !Number.isNaN(Date.parse(value));
}

/** The same schema for merging and for telling who owns what. */
export function toObjectSchema(schema: StructuralSchema | undefined, kind: string, metadata: Schema): ObjectSchema {
  const fields = new Map<string, FieldSchema>();
  for (const [name, member] of Object.entries(schema?.properties ?? {}))
    fields.set(name, fieldOf(name, toSchema(member), false));
  for (const name of ["apiVersion", "kind"])
    fields.set(name, fieldOf(name, { type: "scalar", scalar: "string" }, false));
  fields.set("metadata", fieldOf("metadata", metadata, false));
  return {
    type: "object",
    name: kind,
    fields,
    alwaysPresent: [],
    atomic: false,
    preservesUnknown: schema?.["x-kubernetes-preserve-unknown-fields"] === true || schema === undefined,
  };
}

function fieldOf(name: string, schema: Schema, required: boolean): FieldSchema {
  return { name, required, dropsZero: false, zero: undefined, schema };
}

function toSchema(schema: StructuralSchema): Schema {
  const { properties, additionalProperties, items } = schema;
  if (schema["x-kubernetes-int-or-string"] === true) return { type: "scalar", scalar: "intOrString" };
  switch (schema.type) {
    case "array": {
      const listType = schema["x-kubernetes-list-type"] ?? "atomic";
      const defaults = Object.fromEntries(
        Object.entries(items?.properties ?? {}).flatMap(([name, member]) =>
          member.default === undefined ? [] : [[name, member.default]],
        ),
      );
      return {
        type: "list",
        item: items === undefined ? anySchema : toSchema(items),
        listType,
        keys: schema["x-kubernetes-list-map-keys"] ?? [],
        keyDefaults: defaults,
      };
    }
    case "object": {
      const atomic = schema["x-kubernetes-map-type"] === "atomic";
      if (typeof additionalProperties === "object")
        return { type: "map", value: toSchema(additionalProperties), atomic };
      if (properties === undefined) return { type: "map", value: anySchema, atomic };
      const fields = new Map(
        Object.entries(properties).map(([name, member]) => [
          name,
          fieldOf(name, toSchema(member), schema.required?.includes(name) === true),
        ]),
      );
      return {
        type: "object",
        name: "",
        fields,
        alwaysPresent: [],
        atomic,
        preservesUnknown: schema["x-kubernetes-preserve-unknown-fields"] === true,
      };
    }
    case "string":
    case "boolean":
      return { type: "scalar", scalar: schema.type };
    case "integer":
      return { type: "scalar", scalar: "int64" };
    case "number":
      return { type: "scalar", scalar: "double" };
    default:
      return anySchema;
  }
}

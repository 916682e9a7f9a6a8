import { formatError } from "@kubewright/cel";

import { type FieldError, type FieldErrors, omittedValue } from "../field-errors.js";
import { type JsonObject, isJsonObject, jsonEqual, ownMember, sortedJson } from "../json.js";
import { MAX_MESSAGE_CHARACTERS } from "../message-limit.js";
import { itemIdentity } from "./list-types.js";
import type { Patterns } from "./patterns.js";
import { type StructuralSchema, declaredMember } from "./structural-schema.js";

/**
 * The maximum product of pattern instructions and matched characters for one object, which takes a few seconds at
 * worst. Deliberate: upstream has no limit.
 */
const MAX_STEPS = 100_000_000;

export interface StructuralValidationOptions {
  readonly errors: FieldErrors;
  readonly patterns: Patterns;
  /** The path of the value; error fields are relative to it. Default: the root. */
  readonly field?: string;
  /** The old value. Errors in unchanged parts are permitted (ratcheting). Default: none. */
  readonly old?: unknown;
}

/**
 * Validates a value against a schema. Upstream: kube-openapi `validation/validate` with the error messages of
 * apiextensions, and its ratcheting.
 */
export function validateStructural(
  schema: StructuralSchema | undefined,
  value: unknown,
  { errors, patterns, field, old }: StructuralValidationOptions,
): void {
  if (schema === undefined) return;
  const validation = new Validation(patterns, field);
  validation.validate(schema, value, old);
  for (const error of validation.found) errors.add(error);
}

/**
 * The match count of a schema, which decides which alternative of an `anyOf` is the closest. Upstream counts each
 * validator that applied once.
 */
const MATCHES_PER_SCHEMA = 4;

class Validation {
  readonly found: FieldError[] = [];
  readonly #patterns: Patterns;
  readonly #base: string | undefined;
  #steps = 0;
  #characters = 0;
  #matches = 0;
  readonly #enums = new Map<StructuralSchema, ReadonlySet<string>>();
  /** The names and indexes from the root to the current value. */
  readonly #path: (string | number)[] = [];

  constructor(patterns: Patterns, base: string | undefined) {
    this.#patterns = patterns;
    this.#base = base;
  }

  validate(schema: StructuralSchema, value: unknown, old: unknown): void {
    if (this.#characters > MAX_MESSAGE_CHARACTERS) return;
    const before = this.found.length;
    const characters = this.#characters;
    this.#matches += MATCHES_PER_SCHEMA;
    this.#validateAll(schema, value, old);
    if (this.found.length > before && old !== undefined && jsonEqual(old, value)) {
      this.found.length = before;
      this.#characters = characters;
    }
  }

  #validateAll(schema: StructuralSchema, value: unknown, old: unknown): void {
    const isNull = value === null;
    if (!(isNull && schema.nullable === true)) this.#validateType(schema, value);
    if (!isNull) {
      this.#validateJunctors(schema, value, old);
      if (typeof value === "string") this.#validateString(schema, value);
      else if (typeof value === "number") this.#validateNumber(schema, value);
      else if (Array.isArray(value)) this.#validateList(schema, value, old);
    }
    // Upstream: null is never a permitted enum value.
    if (schema.enum !== undefined && (isNull || !this.#isListed(schema, schema.enum, value))) {
      const supported = schema.enum.map((one) => JSON.stringify(typeof one === "string" ? one : JSON.stringify(one)));
      this.#add({ type: "NotSupported", value, detail: `supported values: ${supported.join(", ")}` });
    }
    if (isJsonObject(value)) this.#validateObject(schema, value, old);
  }

  #isListed(schema: StructuralSchema, allowed: readonly unknown[], value: unknown): boolean {
    if (allowed.length <= MAX_LINEAR_ENUM_VALUES) return allowed.some((one) => jsonEqual(one, value));
    let texts = this.#enums.get(schema);
    if (texts === undefined) this.#enums.set(schema, (texts = new Set(allowed.map(sortedJson))));
    return texts.has(sortedJson(value));
  }

  /**
   * The path of the current value in error messages. Computed only for errors, because values may be many and deeply
   * nested.
   */
  get #name(): string {
    let text = "";
    // Upstream: only the fields of the root have no leading dot, even when their name is empty.
    for (const [index, part] of this.#path.entries())
      text += typeof part === "number" ? `[${part}]` : index === 0 ? part : `.${part}`;
    return text;
  }

  #fieldOf(name: string): string {
    if (this.#base === undefined) return name === "" ? "<nil>" : name;
    return name === "" ? this.#base : `${this.#base}.${name}`;
  }

  #add(error: Omit<FieldError, "field">, field = this.#fieldOf(this.#name)): void {
    this.#characters += field.length + error.detail.length + (typeof error.value === "string" ? error.value.length : 0);
    this.found.push({ field, ...error });
  }

  #at(step: string | number, action: () => void): void {
    this.#path.push(step);
    action();
    this.#path.pop();
  }

  #shouldBe(value: unknown, requirement: string): void {
    this.#add({ type: "Invalid", value, detail: `${this.#name} in body should ${requirement}` });
  }

  /** Adds an error with the field of the root. The message names the path. */
  #composite(sentence: string): void {
    this.#add({ type: "Invalid", value: "", detail: sentence }, this.#fieldOf(""));
  }

  #validateType(schema: StructuralSchema, value: unknown): void {
    const expected =
      schema["x-kubernetes-int-or-string"] === true ? "integer,string" : schema.type === undefined ? "" : schema.type;
    const actual = jsonType(value);
    if (expected === "" || expected.split(",").includes(actual) || (actual === "integer" && expected === "number"))
      return;
    this.#mustBe(expected, actual);
  }

  #mustBe(type: string, actual: unknown): void {
    this.#add({
      type: "TypeInvalid",
      value: actual,
      detail: `${this.#name} in body must be of type ${type}: ${JSON.stringify(actual)}`,
    });
  }

  #validateJunctors({ anyOf, oneOf, allOf, not }: StructuralSchema, value: unknown, old: unknown): void {
    if (anyOf !== undefined && anyOf.length > 0) {
      const results = this.#alternatives(anyOf, value, old);
      if (results.every((errors) => errors.found.length > 0)) {
        this.#composite(`${JSON.stringify(this.#name)} must validate at least one schema (anyOf)`);
        this.#addClosest(results);
      }
    }
    if (oneOf !== undefined && oneOf.length > 0) {
      const results = this.#alternatives(oneOf, value, old);
      const valid = results.filter(({ found }) => found.length === 0).length;
      if (valid !== 1) {
        const count = valid === 0 ? "Found none valid" : `Found ${valid} valid alternatives`;
        this.#composite(`${JSON.stringify(this.#name)} must validate one and only one schema (oneOf). ${count}`);
        if (valid === 0) this.#addClosest(results);
      }
    }
    if (allOf !== undefined && allOf.length > 0) {
      const results = this.#alternatives(allOf, value, old);
      for (const { found } of results) this.#merge(found);
      if (results.some(({ found }) => found.length > 0))
        this.#composite(`${JSON.stringify(this.#name)} must validate all the schemas (allOf)`);
    }
    if (not !== undefined && this.#alternatives([not], value, old)[0]!.found.length === 0)
      this.#composite(`${JSON.stringify(this.#name)} must not validate the schema (not)`);
  }

  #alternatives(
    schemas: readonly StructuralSchema[],
    value: unknown,
    old: unknown,
  ): { found: FieldError[]; matches: number }[] {
    return schemas.map((schema) => {
      const [before, matches] = [this.found.length, this.#matches];
      const characters = this.#characters;
      this.validate(schema, value, old);
      const result = { found: this.found.splice(before), matches: this.#matches - matches };
      this.#characters = characters;
      return result;
    });
  }

  #addClosest(results: readonly { found: FieldError[]; matches: number }[]): void {
    let closest = results[0]!;
    for (const result of results) if (result.matches > closest.matches) closest = result;
    this.#merge(closest.found);
  }

  #merge(found: readonly FieldError[]): void {
    for (const { field, ...error } of found) this.#add(error, field);
  }

  #validateString({ minLength, maxLength, pattern, format }: StructuralSchema, value: string): void {
    const length = minLength === undefined && maxLength === undefined ? 0 : characterCount(value);
    if (maxLength !== undefined && length > maxLength) {
      const detail = `may not be more than ${maxLength} ${maxLength === 1 ? "byte" : "bytes"}`;
      this.#add({ type: "TooLong", detail });
    }
    if (minLength !== undefined && length < minLength) this.#shouldBe(value, `be at least ${minLength} chars long`);
    if (pattern !== undefined) this.#validatePattern(pattern, value);
    if (format !== undefined && formatError(format, value)) this.#mustBe(format, value);
  }

  #validatePattern(source: string, value: string): void {
    const pattern = this.#patterns.get(source);
    if (pattern === undefined) return;
    this.#steps += pattern.instructions * value.length;
    if (this.#steps > MAX_STEPS) {
      const detail = `${this.#name} in body is too long to be matched with '${source}'`;
      this.#add({ type: "Invalid", value: omittedValue, detail });
    } else if (!pattern.test(value)) this.#shouldBe(value, `match '${source}'`);
  }

  #validateNumber(schema: StructuralSchema, value: number): void {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
    const range = rangeProblem(schema, value);
    if (range !== undefined) this.#composite(`Checked value must be of type ${range} in ${this.#name}`);
    if (multipleOf !== undefined && !isMultiple(value, multipleOf))
      this.#shouldBe(value, `be a multiple of ${multipleOf}`);
    if (minimum !== undefined && (exclusiveMinimum === true ? value <= minimum : value < minimum))
      this.#shouldBe(value, `be greater than ${exclusiveMinimum === true ? "" : "or equal to "}${minimum}`);
    if (maximum !== undefined && (exclusiveMaximum === true ? value >= maximum : value > maximum))
      this.#shouldBe(value, `be less than ${exclusiveMaximum === true ? "" : "or equal to "}${maximum}`);
  }

  #validateList(schema: StructuralSchema, value: readonly unknown[], old: unknown): void {
    const { minItems, maxItems, items } = schema;
    if (items !== undefined) {
      const oldItem = correlatedItems(schema, old);
      for (const [index, item] of value.entries()) this.#at(index, () => this.validate(items, item, oldItem?.(item)));
    }
    if (minItems !== undefined && value.length < minItems)
      this.#shouldBe(value.length, `have at least ${minItems} items`);
    if (maxItems !== undefined && value.length > maxItems) this.#tooMany(value.length, maxItems);
  }

  #tooMany(count: number, max: number): void {
    this.#add({ type: "TooMany", value: count, detail: `must have at most ${max} ${max === 1 ? "item" : "items"}` });
  }

  #validateObject(schema: StructuralSchema, value: JsonObject, old: unknown): void {
    const { minProperties, maxProperties, properties, additionalProperties } = schema;
    if (minProperties !== undefined || maxProperties !== undefined) {
      const size = Object.keys(value).length;
      if (minProperties !== undefined && size < minProperties) {
        this.#shouldBe(size, `have at least ${minProperties} properties`);
        return;
      }
      if (maxProperties !== undefined && size > maxProperties) {
        this.#tooMany(size, maxProperties);
        return;
      }
    }
    if (properties !== undefined || typeof additionalProperties === "object") {
      const before = isJsonObject(old) ? old : undefined;
      for (const key of Object.keys(value)) {
        const member = declaredMember(schema, key);
        if (member === undefined) continue;
        this.#at(key, () =>
          this.validate(member, value[key], before === undefined ? undefined : ownMember(before, key)),
        );
      }
    }
    for (const name of schema.required ?? [])
      if (ownMember(value, name) === undefined) this.#at(name, () => this.#add({ type: "Required", detail: "" }));
  }
}

/** The maximum number of enum values for a linear search. */
const MAX_LINEAR_ENUM_VALUES = 16;

/** Returns a function that finds the old item with the same key; `undefined` when the items have no keys. */
export function correlatedItems(schema: StructuralSchema, old: unknown): ((item: unknown) => unknown) | undefined {
  if (schema["x-kubernetes-list-type"] !== "map" || !Array.isArray(old)) return undefined;
  const byKey = new Map<string, unknown>();
  for (const item of old as unknown[]) {
    const text = JSON.stringify(itemIdentity(schema, item));
    if (!byKey.has(text)) byKey.set(text, item);
  }
  return (item) => byKey.get(JSON.stringify(itemIdentity(schema, item)));
}

function jsonType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

/** Returns the type and format when the number is out of their range. Upstream: `IsValueValidAgainstRange`. */
function rangeProblem({ type, format, ...schema }: StructuralSchema, value: number): string | undefined {
  if (type === "integer" && schema["x-kubernetes-int-or-string"] !== true) {
    if (!Number.isInteger(value))
      return `integer ${format === undefined ? "(default format)" : `with format ${format}`}`;
    if (format === "int32" && (value > 2 ** 31 - 1 || value < -(2 ** 31))) return "integer with format int32";
  }
  if (type === "number" && format === "float" && Math.abs(value) > MAX_FLOAT) return "number with format float";
  return undefined;
}

const MAX_FLOAT = (2 - 2 ** -23) * 2 ** 127;
const EPSILON = 1e-9;

/**
 * Whether a number is a multiple of the factor, with upstream's precision, which truncates and does not round.
 * Upstream: `swag.IsFloat64AJSONInteger`.
 */
function isMultiple(value: number, factor: number): boolean {
  if (factor <= 0) return false;
  const quotient = factor < 1 ? (1 / factor) * value : value / factor;
  const whole = Math.trunc(quotient);
  return quotient === whole || Math.abs(quotient - whole) / (Math.abs(quotient) + Math.abs(whole)) < EPSILON;
}

/** Counts code points, as Go counts runes. */
function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

import type { FieldErrors } from "../field-errors.js";
import { type JsonObject, isJsonObject, jsonEqual, ownMember, setMember } from "../json.js";
import { pathText } from "../schema/decode.js";
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

type Path = (string | number)[];

/** A deep copy without what the schema does not know; the paths of what was left out go to `unknown`. */
export function prune(
  schema: StructuralSchema | undefined,
  value: unknown,
  unknown: string[] | undefined,
  path: Path = [],
): unknown {
  if (Array.isArray(value))
    return value.map((item: unknown, index) => prune(schema?.items ?? kept(schema), item, unknown, [...path, index]));
  if (!isJsonObject(value)) return value;
  const result: JsonObject = {};
  for (const key of Object.keys(value)) {
    const member = memberOf(schema, key, path.length === 0 || schema?.["x-kubernetes-embedded-resource"] === true);
    if (member === undefined) unknown?.push(pathText([...path, key]));
    else setMember(result, key, prune(member, value[key], unknown, [...path, key]));
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

/** Upstream: kube-openapi `validation/validate`, as apiextensions words its errors. */
export function validateStructural(
  schema: StructuralSchema | undefined,
  value: unknown,
  errors: FieldErrors,
  path: Path = [],
): void {
  if (schema === undefined || (value === null && schema.nullable === true)) return;
  const field = pathText(path);
  if (!validateType(schema, value, field, errors)) return;
  if (schema.enum !== undefined && !schema.enum.some((allowed) => jsonEqual(allowed, value))) {
    errors.notSupported(
      field,
      value,
      schema.enum.map((allowed) => String(allowed)),
    );
  }
  if (typeof value === "number") validateNumber(schema, value, field, errors);
  else if (typeof value === "string") validateString(schema, value, field, errors);
  else if (Array.isArray(value)) {
    const { minItems, maxItems } = schema;
    if (maxItems !== undefined && value.length > maxItems) errors.tooMany(field, value.length, maxItems);
    if (minItems !== undefined && value.length < minItems)
      errors.invalid(field, value.length, `${field} in body should have at least ${minItems} items`);
    validateUnique(schema, value, field, errors);
    value.forEach((item, index) => validateStructural(schema.items, item, errors, [...path, index]));
  } else if (isJsonObject(value)) {
    const { minProperties, maxProperties } = schema;
    const size = Object.keys(value).length;
    if (maxProperties !== undefined && size > maxProperties) errors.tooMany(field, size, maxProperties);
    if (minProperties !== undefined && size < minProperties)
      errors.invalid(field, size, `${field} in body should have at least ${minProperties} properties`);
    if (schema["x-kubernetes-embedded-resource"] === true)
      for (const name of ["apiVersion", "kind"])
        if (!ownMember(value, name)) errors.required(pathText([...path, name]));
    for (const name of schema.required ?? [])
      if (ownMember(value, name) === undefined) errors.required(pathText([...path, name]));
    for (const key of Object.keys(value))
      validateStructural(memberOf(schema, key, path.length === 0), value[key], errors, [...path, key]);
  }
}

/** Elements of a set, and of a map list by their keys, may not repeat. */
function validateUnique(schema: StructuralSchema, value: readonly unknown[], field: string, errors: FieldErrors): void {
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
    if (seen.has(text)) errors.duplicate(`${field}[${index}]`, identity);
    seen.add(text);
  });
}

function validateType(schema: StructuralSchema, value: unknown, field: string, errors: FieldErrors): boolean {
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
  errors.add({
    type: "TypeInvalid",
    field,
    value: actual,
    detail: `${field} in body must be of type ${wanted.join(",")}: ${JSON.stringify(actual)}`,
  });
  if (actual === "number")
    errors.invalid("<nil>", "", `Checked value must be of type ${wanted.join(",")} (default format) in ${field}`);
  return false;
}

function validateNumber(
  { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: StructuralSchema,
  value: number,
  field: string,
  errors: FieldErrors,
): void {
  if (multipleOf !== undefined && value % multipleOf !== 0)
    errors.invalid(field, value, `${field} in body should be a multiple of ${multipleOf}`);
  if (minimum !== undefined && (exclusiveMinimum === true ? value <= minimum : value < minimum)) {
    errors.invalid(
      field,
      value,
      `${field} in body should be greater than ${exclusiveMinimum === true ? "" : "or equal to "}${minimum}`,
    );
  }
  if (maximum !== undefined && (exclusiveMaximum === true ? value >= maximum : value > maximum)) {
    errors.invalid(
      field,
      value,
      `${field} in body should be less than ${exclusiveMaximum === true ? "" : "or equal to "}${maximum}`,
    );
  }
}

function validateString(
  { minLength, maxLength, pattern, format }: StructuralSchema,
  value: string,
  field: string,
  errors: FieldErrors,
): void {
  const length = Array.from(value).length;
  if (maxLength !== undefined && length > maxLength) errors.tooLong(field, maxLength);
  if (minLength !== undefined && length < minLength)
    errors.invalid(field, value, `${field} in body should be at least ${minLength} chars long`);
  if ((format === "date-time" || format === "date") && !isFormatted(format, value)) {
    errors.add({
      type: "TypeInvalid",
      field,
      value,
      detail: `${field} in body must be of type ${format}: ${JSON.stringify(value)}`,
    });
  }
  if (pattern !== undefined && !matches(pattern, value))
    errors.invalid(field, value, `${field} in body should match '${pattern}'`);
}

function isFormatted(format: "date-time" | "date", value: string): boolean {
  const pattern =
    format === "date" ? /^\d{4}-\d\d-\d\d$/ : /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
  return pattern.test(value) && !Number.isNaN(Date.parse(value));
}

/** A pattern this runtime cannot read constrains nothing. */
function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, "u").test(value);
  } catch {
    return true;
  }
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

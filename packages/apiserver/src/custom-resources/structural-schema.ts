import type { Path } from "../message-limit.js";
import { type JsonObject, isJsonObject, ownMember, setMember } from "../json.js";
import { MAX_NESTING, TOO_DEEP } from "../nesting.js";
import { DecodeError } from "../schema/decode.js";
import { type FieldSchema, type ObjectSchema, type Schema, anySchema } from "../schema/schema.js";

/** An OpenAPI v3 schema of a CustomResourceDefinition. */
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
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
  readonly allOf?: readonly StructuralSchema[];
  readonly anyOf?: readonly StructuralSchema[];
  readonly oneOf?: readonly StructuralSchema[];
  readonly not?: StructuralSchema;
}

/** One entry of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule?: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/**
 * Returns a deep copy without the fields that the schema does not declare.
 *
 * @param onUnknown - Called with the path of each removed field. The path array is reused after the call.
 * @param isResource - Keeps apiVersion, kind and metadata. Default: at the root and in embedded resources.
 * @throws DecodeError when the nesting is deeper than {@link MAX_NESTING}
 */
export function prune(
  schema: StructuralSchema | undefined,
  value: unknown,
  onUnknown?: (path: Path) => void,
  path: (string | number)[] = [],
  isResource = path.length === 0 || schema?.["x-kubernetes-embedded-resource"] === true,
): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (path.length >= MAX_NESTING) throw new DecodeError(TOO_DEEP);
  if (Array.isArray(value)) {
    const items = schema?.items ?? unknownMemberSchema(schema);
    return value.map((item: unknown, index) => {
      path.push(index);
      const pruned = prune(items, item, onUnknown, path);
      path.pop();
      return pruned;
    });
  }
  const result: JsonObject = {};
  for (const key of Object.keys(value)) {
    const member = memberOf(schema, key, isResource);
    path.push(key);
    if (member === undefined) onUnknown?.(path);
    else setMember(result, key, prune(member, (value as JsonObject)[key], onUnknown, path));
    path.pop();
  }
  return result;
}

const ANYTHING: StructuralSchema = { "x-kubernetes-preserve-unknown-fields": true };

function unknownMemberSchema(schema: StructuralSchema | undefined): StructuralSchema | undefined {
  return schema?.["x-kubernetes-preserve-unknown-fields"] === true ? ANYTHING : undefined;
}

function memberOf(
  schema: StructuralSchema | undefined,
  key: string,
  isResource: boolean,
): StructuralSchema | undefined {
  if (isResource && (key === "apiVersion" || key === "kind" || key === "metadata")) return ANYTHING;
  const declared = schema && declaredMember(schema, key);
  return declared ?? (schema?.additionalProperties === true ? ANYTHING : unknownMemberSchema(schema));
}

/** Returns the schema of a member of objects; `undefined` when none is declared. */
export function declaredMember(
  { properties, additionalProperties }: StructuralSchema,
  key: string,
): StructuralSchema | undefined {
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}

/** Whether a schema, or a schema below it, meets a condition. */
export function someSchema(
  schema: StructuralSchema | undefined,
  condition: (schema: StructuralSchema) => boolean,
): boolean {
  if (schema === undefined) return false;
  const { properties = {}, additionalProperties, items } = schema;
  return (
    condition(schema) ||
    someSchema(items, condition) ||
    (typeof additionalProperties === "object" && someSchema(additionalProperties, condition)) ||
    Object.values(properties).some((property) => someSchema(property, condition))
  );
}

/**
 * Visits the objects and lists in a value for which schemas are declared, each before those below it. The path array is
 * reused after the call.
 */
export function visitDeclared(
  schema: StructuralSchema | undefined,
  value: unknown,
  visit: (schema: StructuralSchema, value: object, path: Path) => void,
  path: (string | number)[] = [],
): void {
  if (schema === undefined || typeof value !== "object" || value === null) return;
  visit(schema, value, path);
  const below = (key: string | number, part: StructuralSchema | undefined, member: unknown): void => {
    path.push(key);
    visitDeclared(part, member, visit, path);
    path.pop();
  };
  if (Array.isArray(value)) for (const [index, item] of value.entries()) below(index, schema.items, item);
  else for (const [key, member] of Object.entries(value)) below(key, declaredMember(schema, key), member);
}

/** Applies defaults in place, and removes nulls that are not permitted. */
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
    // A null that is not permitted and has no default is removed.
    else if (current === null && member.nullable !== true) delete value[key];
  }
  const { additionalProperties } = schema;
  if (typeof additionalProperties === "object" && additionalProperties.nullable !== true)
    for (const key of Object.keys(value))
      if (value[key] === null && !Object.hasOwn(schema.properties ?? {}, key)) delete value[key];
  for (const key of Object.keys(value)) applyStructuralDefaults(memberOf(schema, key, false), value[key]);
}

/** Converts the schema to the form that merging and field ownership use. */
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
          // A missing required field stays missing. Only Go types have a zero value for it.
          fieldOf(name, toSchema(member), false),
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

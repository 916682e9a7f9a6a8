import type { PatternChecker } from "../../custom-resources/patterns.js";
import type { FieldErrors } from "../../field-errors.js";
import { isJsonObject, type JsonObject } from "../../json.js";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];

/**
 * Whether a schema is structural, and says what it says in a way the server can check. Neither validation rules in CEL nor
 * every detail of nested logical schemas is looked at.
 *
 * Upstream: `ValidateCustomResourceDefinitionOpenAPISchema`, `schema.ValidateStructural` in apiextensions-apiserver.
 */
export function validateSchema(
  schema: unknown,
  path: string,
  errors: FieldErrors,
  patterns: PatternChecker,
  place = "at the root",
): void {
  if (!isJsonObject(schema)) return;
  const { type = "", properties, additionalProperties, items, pattern } = schema;
  const isOpen =
    schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (type === "") {
    if (place === "at the root" || !isOpen) errors.required(`${path}.type`, `must not be empty ${place}`);
  } else if (!TYPES.includes(type as string)) errors.notSupported(`${path}.type`, type, TYPES);
  if (schema["$ref"] !== undefined) errors.forbidden(`${path}.$ref`, "$ref is not supported");
  if (schema["uniqueItems"] === true) {
    errors.forbidden(
      `${path}.uniqueItems`,
      "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
    );
  }
  if (isJsonObject(properties) && additionalProperties !== undefined && additionalProperties !== false) {
    errors.forbidden(`${path}.additionalProperties`, "additionalProperties and properties are mutual exclusive");
  }
  if (type === "array" && items === undefined) errors.required(`${path}.items`, "must be specified");
  const error = typeof pattern === "string" ? patterns.errorOf(pattern) : undefined;
  if (error !== undefined)
    errors.invalid(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${error}`);
  if (schema["x-kubernetes-list-type"] === "map" && !Array.isArray(schema["x-kubernetes-list-map-keys"])) {
    errors.required(`${path}.x-kubernetes-list-map-keys`, "must not be empty if x-kubernetes-list-type is map");
  }
  validateDefault(schema, `${path}.default`, errors);
  for (const [name, property] of Object.entries(isJsonObject(properties) ? properties : {})) {
    validateSchema(property, `${path}.properties[${name}]`, errors, patterns, "for specified object fields");
  }
  validateSchema(items, `${path}.items`, errors, patterns, "for specified array items");
  validateSchema(additionalProperties, `${path}.additionalProperties`, errors, patterns, "for specified object fields");
}

function validateDefault({ type, default: value, nullable }: JsonObject, field: string, errors: FieldErrors): void {
  if (value === undefined || typeof type !== "string" || (value === null && nullable === true)) return;
  const actual = typeOf(value);
  if (actual === type || (actual === "integer" && type === "number")) return;
  errors.add({
    type: "TypeInvalid",
    field,
    value: actual,
    detail: ` in body must be of type ${type}: "${actual}"`,
  });
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

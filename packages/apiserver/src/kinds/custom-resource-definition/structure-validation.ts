import type { StructuralSchema } from "../../custom-resources/structural-schema.js";
import { type FieldError, FieldErrors, errorBody } from "../../field-errors.js";
import { isJsonObject } from "../../json.js";

type Level = "root" | "field" | "item";

const WITHOUT_TYPE: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  field: "must not be empty for specified object fields",
  item: "must not be empty for specified array items",
};

/** Keywords that are forbidden in nested value validation. Upstream: `validateNestedValueValidation`. */
const FORBIDDEN_WHEN_NESTED: readonly (readonly [string, string])[] = [
  ["type", "must be empty to be structural"],
  ["additionalProperties", "must be undefined to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"],
];

/** Upstream: `structuralschema.ValidateStructural`, which sorts its errors. */
export function validateStructure(schema: StructuralSchema, path: string, errors: FieldErrors): void {
  const found = new FieldErrors();
  new StructureValidator(found).validate(schema, path, "root");
  const text = (error: FieldError): string => `${error.field}: ${errorBody(error)}`;
  for (const error of [...found.all].sort((a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0)))
    errors.add(error);
}

class StructureValidator {
  readonly #errors: FieldErrors;

  constructor(errors: FieldErrors) {
    this.#errors = errors;
  }

  validate(schema: StructuralSchema, path: string, level: Level): void {
    const { type = "", items, properties = {}, additionalProperties } = schema;
    if (type === "array" && items === undefined) this.#errors.required(`${path}.items`, "must be specified");
    if (isJsonObject(items)) this.validate(items, `${path}.items`, "item");
    for (const [name, property] of Object.entries(properties))
      this.validate(property, `${path}.properties[${name}]`, "field");
    if (level === "root" && additionalProperties !== undefined)
      this.#errors.forbidden(`${path}.additionalProperties`, "must not be used at the root");
    if (isJsonObject(additionalProperties))
      this.validate(additionalProperties, `${path}.additionalProperties`, "field");
    this.#validateJunctors(schema, path, isIntOrString(schema));
    this.#validateType(schema, path, level);
    const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
    if (isEmbedded && additionalProperties !== undefined) {
      const detail = "must not be used if x-kubernetes-embedded-resource is set";
      this.#errors.forbidden(`${path}.additionalProperties`, detail);
    }
    if (isEmbedded && schema["x-kubernetes-preserve-unknown-fields"] !== true && Object.keys(properties).length === 0) {
      this.#errors.required(
        `${path}.properties`,
        "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
      );
    }
    if (level === "root" || isEmbedded) this.#validateResourceMembers(properties, path, level);
  }

  #validateType(schema: StructuralSchema, path: string, level: Level): void {
    const { type = "" } = schema;
    if (schema["x-kubernetes-embedded-resource"] === true && type !== "object") {
      const detail = "must be object if x-kubernetes-embedded-resource is true";
      if (type === "") this.#errors.required(`${path}.type`, detail);
      else this.#errors.invalid(`${path}.type`, type, detail);
    } else if (
      type === "" &&
      schema["x-kubernetes-int-or-string"] !== true &&
      schema["x-kubernetes-preserve-unknown-fields"] !== true
    )
      this.#errors.required(`${path}.type`, WITHOUT_TYPE[level]);
    if (level === "root" && type !== "" && type !== "object")
      this.#errors.invalid(`${path}.type`, type, "must be object at the root");
  }

  #validateResourceMembers(properties: NonNullable<StructuralSchema["properties"]>, path: string, level: Level): void {
    for (const name of ["kind", "apiVersion"]) {
      const type = properties[name]?.type ?? "";
      if (type !== "" && type !== "string")
        this.#errors.invalid(`${path}.properties[${name}].type`, type, "must be string");
    }
    const { metadata } = properties;
    if (metadata === undefined) return;
    const at = `${path}.properties[metadata]`;
    if (metadata.type !== "object") this.#errors.invalid(`${at}.type`, metadata.type ?? "", "must be object");
    if (level !== "root") return;
    const { type: _type, properties: members = {}, default: _default, ...more } = metadata as Record<string, unknown>;
    const hasOtherFields =
      Object.keys(members as object).some((name) => name !== "name" && name !== "generateName") ||
      Object.values(more).some((value) => value !== undefined && value !== "");
    if (hasOtherFields) {
      this.#errors.forbidden(
        at,
        "must not specify anything other than name and generateName, but metadata is implicitly specified",
      );
    }
  }

  #validateJunctors(schema: StructuralSchema, path: string, skips: "anyOf" | "allOf" | undefined): void {
    const { anyOf = [], allOf = [], oneOf = [], not } = schema;
    if (skips !== "anyOf")
      for (const [index, part] of anyOf.entries()) this.#validateNested(part, `${path}.anyOf[${index}]`, undefined);
    for (const [index, part] of allOf.entries()) {
      const skipped = skips === "allOf" && index === 0 ? "anyOf" : undefined;
      this.#validateNested(part, `${path}.allOf[${index}]`, skipped);
    }
    for (const [index, part] of oneOf.entries()) this.#validateNested(part, `${path}.oneOf[${index}]`, undefined);
    if (isJsonObject(not)) this.#validateNested(not, `${path}.not`, undefined);
  }

  #validateNested(schema: StructuralSchema, path: string, skips: "anyOf" | undefined): void {
    this.#validateJunctors(schema, path, skips);
    if (isJsonObject(schema.items)) this.#validateNested(schema.items, `${path}.items`, undefined);
    for (const [name, property] of Object.entries(schema.properties ?? {}))
      this.#validateNested(property, `${path}.properties[${name}]`, undefined);
    for (const [keyword, detail] of FORBIDDEN_WHEN_NESTED) {
      const value = (schema as Readonly<Record<string, unknown>>)[keyword];
      const isEmpty =
        value === undefined || value === false || value === "" || (Array.isArray(value) && value.length === 0);
      if (!isEmpty || (keyword === "additionalProperties" && value === false))
        this.#errors.forbidden(`${path}.${keyword}`, detail);
    }
  }
}

/** Returns where an int-or-string schema repeats its types in the older notation, if it does. */
function isIntOrString(schema: StructuralSchema): "anyOf" | "allOf" | undefined {
  if (schema["x-kubernetes-int-or-string"] !== true) return undefined;
  const isPair = (parts: readonly StructuralSchema[] | undefined): boolean =>
    parts?.length === 2 &&
    parts[0]!.type === "integer" &&
    parts[1]!.type === "string" &&
    parts.every((part) => Object.keys(part).length === 1);
  if (isPair(schema.anyOf)) return "anyOf";
  return isPair(schema.allOf?.[0]?.anyOf) ? "allOf" : undefined;
}

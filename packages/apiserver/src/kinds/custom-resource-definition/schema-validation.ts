import { PatternChecker, Patterns } from "../../custom-resources/patterns.js";
import type { RuleCompiler } from "../../custom-resources/expression-rules.js";
import type { StructuralSchema } from "../../custom-resources/structural-schema.js";
import { FieldErrors } from "../../field-errors.js";
import { isJsonObject } from "../../json.js";
import { validateDefaults } from "./default-validation.js";
import { RuleValidator } from "./rule-validation.js";
import { validateStructure } from "./structure-validation.js";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
const UNSUPPORTED = ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"];
const RESOURCE_MEMBERS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** The state that the schemas of one CustomResourceDefinition share during validation. */
export interface SchemaValidationContext {
  readonly patterns: PatternChecker;
  readonly compiler: RuleCompiler;
}

export function createSchemaValidationContext(compiler: RuleCompiler): SchemaValidationContext {
  return { patterns: new PatternChecker(), compiler };
}

/**
 * Validates that a schema is structural, that its keywords can be enforced, and that its rules compile.
 *
 * Upstream: `validateCustomResourceDefinitionValidation` in apiextensions-apiserver.
 */
export function validateSchema(
  schema: unknown,
  path: string,
  errors: FieldErrors,
  context: SchemaValidationContext,
): void {
  if (!isJsonObject(schema)) return;
  const found = new FieldErrors();
  const root = schema as StructuralSchema;
  if (root.nullable === true) found.forbidden(`${path}.nullable`, "nullable cannot be true at the root");
  const structural = new FieldErrors();
  validateStructure(root, path, structural);
  if (structural.isEmpty)
    validateDefaults(root, path, { errors: structural, patterns: new Patterns(), compiler: context.compiler });
  const rules = structural.isEmpty ? new RuleValidator(context.compiler) : undefined;
  merge(found, structural);
  const cel = new FieldErrors();
  new SchemaWalker(found, cel, context.patterns, rules).walk(root, path, {
    isResource: true,
    defaultsForbidden: undefined,
    uncorrelatable: undefined,
    context: rules?.root(root),
  });
  merge(found, cel);
  if (found.isEmpty) {
    const unsupported = findUnsupported(root);
    if (unsupported !== undefined) found.invalid(path, "", `OpenAPIV3Schema '${unsupported}' is not supported`);
  }
  rules?.reportTotal(path, found);
  merge(errors, found);
}

function merge(into: FieldErrors, from: FieldErrors): void {
  for (const error of from.all) into.add(error);
}

/**
 * Finds an unsupported keyword that upstream detects only while it converts to a structural schema. Upstream:
 * `validateUnsupportedFields`.
 */
function findUnsupported(schema: unknown): string | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (typeof schema["$schema"] === "string" && schema["$schema"] !== "") return "schema";
  const { properties, items, additionalProperties } = schema;
  for (const part of [...Object.values(isJsonObject(properties) ? properties : {}), items, additionalProperties]) {
    const found = findUnsupported(part);
    if (found !== undefined) return found;
  }
  return undefined;
}

interface SchemaLocation {
  /** Whether the node is the root or an embedded object. */
  readonly isResource: boolean;
  /** The reason why defaults are forbidden; `undefined` when they are permitted. */
  readonly defaultsForbidden: string | undefined;
  /** The path of the enclosing list whose items have no correlated old values. */
  readonly uncorrelatable: string | undefined;
  readonly context: ReturnType<RuleValidator["root"]> | undefined;
}

/** Upstream: `ValidateCustomResourceDefinitionOpenAPISchema`. */
class SchemaWalker {
  readonly #errors: FieldErrors;
  readonly #ruleErrors: FieldErrors;
  readonly #patterns: PatternChecker;
  readonly #rules: RuleValidator | undefined;

  constructor(
    errors: FieldErrors,
    ruleErrors: FieldErrors,
    patterns: PatternChecker,
    rules: RuleValidator | undefined,
  ) {
    this.#errors = errors;
    this.#ruleErrors = ruleErrors;
    this.#patterns = patterns;
    this.#rules = rules;
  }

  walk(schema: StructuralSchema, path: string, location: SchemaLocation): void {
    const before = this.#errors.all.length;
    this.#validateKeywords(schema, path, location);
    this.#validateChildren(schema, path, location);
    if (schema["x-kubernetes-preserve-unknown-fields"] === false)
      this.#errors.invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined");
    this.#validateMapType(schema, path);
    this.#validateListType(schema, path);
    const rules = schema["x-kubernetes-validations"];
    if (rules === undefined || rules.length === 0 || this.#rules === undefined) return;
    this.#rules.validateRuleFields(schema, path, this.#errors);
    if (this.#errors.all.length === before && location.context !== undefined)
      this.#rules.validateExpressions(schema, path, location.context, location.uncorrelatable, this.#ruleErrors);
  }

  #validateKeywords(schema: StructuralSchema, path: string, location: SchemaLocation): void {
    const keywords = schema as Readonly<Record<string, unknown>>;
    const { type } = keywords;
    if (typeof type === "string" && type !== "" && !TYPES.includes(type))
      this.#errors.notSupported(`${path}.type`, type, TYPES);
    if (schema.default !== undefined && location.defaultsForbidden !== undefined)
      this.#errors.forbidden(`${path}.default`, location.defaultsForbidden);
    for (const keyword of UNSUPPORTED) {
      const value = keywords[keyword];
      const isSet = isJsonObject(value)
        ? keyword === "additionalItems" || Object.keys(value).length > 0
        : Boolean(value);
      if (isSet || (keyword === "additionalItems" && value !== undefined))
        this.#errors.forbidden(`${path}.${keyword}`, `${keyword} is not supported`);
    }
    if (type === "null")
      this.#errors.forbidden(`${path}.type`, "type cannot be set to null, use nullable as an alternative");
    if (Array.isArray(keywords["items"]))
      this.#errors.forbidden(`${path}.items`, "items must be a schema object and not an array");
    const { pattern } = schema;
    const error = typeof pattern === "string" && pattern !== "" ? this.#patterns.errorOf(pattern) : undefined;
    if (error !== undefined)
      this.#errors.invalid(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${error}`);
    if (keywords["uniqueItems"] === true) {
      this.#errors.forbidden(
        `${path}.uniqueItems`,
        "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
      );
    }
  }

  #validateChildren(schema: StructuralSchema, path: string, location: SchemaLocation): void {
    const { properties = {}, additionalProperties, items } = schema;
    const child = (
      key: Parameters<NonNullable<SchemaLocation["context"]>["child"]>[0],
      more: Partial<SchemaLocation> = {},
    ): SchemaLocation => ({
      ...location,
      isResource: false,
      context: location.context?.child(key),
      ...more,
    });
    if (additionalProperties !== undefined) {
      if (Object.keys(properties).length > 0 && additionalProperties !== true) {
        const detail = "additionalProperties and properties are mutual exclusive";
        this.#errors.forbidden(`${path}.additionalProperties`, detail);
      }
      if (isJsonObject(additionalProperties))
        this.walk(additionalProperties, `${path}.additionalProperties`, child("values"));
    }
    const isResource = location.isResource || schema["x-kubernetes-embedded-resource"] === true;
    for (const [name, property] of Object.entries(properties)) {
      const forbidden =
        isResource && RESOURCE_MEMBERS.has(name)
          ? {
              defaultsForbidden:
                name === "metadata" ? "must not be set in top-level metadata" : `must not be set in top-level ${name}`,
            }
          : {};
      // Deliberate upstream, too: the metadata of embedded objects may have defaults.
      this.walk(
        property,
        `${path}.properties[${name}]`,
        child({ property: name }, location.isResource ? forbidden : {}),
      );
    }
    const junctor = child("junctor", { uncorrelatable: location.uncorrelatable });
    if (isJsonObject(schema.not)) this.walk(schema.not, `${path}.not`, junctor);
    for (const name of ["allOf", "oneOf", "anyOf"] as const)
      for (const [index, part] of (schema[name] ?? []).entries()) this.walk(part, `${path}.${name}[${index}]`, junctor);
    if (isJsonObject(items)) {
      const isMap = schema["x-kubernetes-list-type"] === "map";
      this.walk(
        items,
        `${path}.items`,
        child("items", isMap ? {} : { uncorrelatable: location.uncorrelatable ?? path }),
      );
    }
  }

  #validateMapType(schema: StructuralSchema, path: string): void {
    const mapType = schema["x-kubernetes-map-type"];
    if (mapType === undefined) return;
    if (schema.type !== "object") this.#mustBe(path, schema.type, "object", "x-kubernetes-map-type");
    if (mapType !== "atomic" && mapType !== "granular")
      this.#errors.notSupported(`${path}.x-kubernetes-map-type`, mapType, ["atomic", "granular"]);
  }

  #mustBe(path: string, type: string | undefined, expected: string, keyword: string): void {
    const detail = `must be ${expected} if ${keyword} is specified`;
    if (!type) this.#errors.required(`${path}.type`, detail);
    else this.#errors.invalid(`${path}.type`, type, detail);
  }

  #validateListType(schema: StructuralSchema, path: string): void {
    const listType = schema["x-kubernetes-list-type"];
    const keys = schema["x-kubernetes-list-map-keys"] ?? [];
    const at = `${path}.x-kubernetes-list-type`;
    if (listType !== undefined && schema.type !== "array")
      this.#mustBe(path, schema.type, "array", "x-kubernetes-list-type");
    else if (listType !== undefined && !["atomic", "set", "map"].includes(listType))
      this.#errors.notSupported(at, listType, ["atomic", "set", "map"]);
    else if (keys.length > 0 && listType !== "map") {
      const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
      if (listType === undefined) this.#errors.required(at, detail);
      else this.#errors.invalid(at, listType, detail);
    }
    if (listType === "set") this.#validateSet(schema, path);
    if (listType === "map") this.#validateListMap(schema, path, keys);
  }

  #validateSet({ items }: StructuralSchema, path: string): void {
    if (items === undefined) return;
    if (items.nullable === true)
      this.#errors.forbidden(`${path}.items.nullable`, "cannot be nullable when x-kubernetes-list-type is set");
    const mapType = items["x-kubernetes-map-type"];
    if (items.type === "object" && mapType !== "atomic") {
      const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
      this.#errors.invalid(`${path}.items.x-kubernetes-map-type`, mapType, detail);
    }
    const listType = items["x-kubernetes-list-type"];
    if (items.type === "array" && listType !== undefined && listType !== "atomic") {
      const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
      this.#errors.invalid(`${path}.items.x-kubernetes-list-type`, listType, detail);
    }
  }

  #validateListMap({ items }: StructuralSchema, path: string, keys: readonly string[]): void {
    const at = `${path}.x-kubernetes-list-map-keys`;
    if (keys.length === 0) {
      this.#errors.required(at, "must not be empty if x-kubernetes-list-type is map");
      return;
    }
    if (items === undefined) {
      this.#errors.required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map");
      return;
    }
    if (items.nullable === true)
      this.#errors.forbidden(`${path}.items.nullable`, "cannot be nullable when x-kubernetes-list-type is map");
    if (items.type !== "object") {
      const detail = "must be object if parent array's x-kubernetes-list-type is map";
      this.#errors.invalid(`${path}.items.type`, items.type, detail);
    }
    const properties = items.properties ?? {};
    if (items.type !== "object" || Object.keys(properties).length === 0) return;
    const seen = new Set<string>();
    for (const key of keys) {
      const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
      const place = `${path}.items.properties[${key}]`;
      if (property === undefined) this.#errors.invalid(at, keys, "entries must all be names of item properties");
      else if (property.type === "array" || property.type === "object") {
        const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
        this.#errors.invalid(`${place}.type`, property.type, detail);
      }
      if (seen.has(key)) this.#errors.invalid(at, keys, "must not contain duplicate entries");
      seen.add(key);
      if (property === undefined) continue;
      if (property.default === undefined && items.required?.includes(key) !== true) {
        const detail =
          "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
        this.#errors.required(`${place}.default`, detail);
      }
      if (property.nullable === true) {
        const detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
        this.#errors.forbidden(`${place}.nullable`, detail);
      }
    }
  }
}

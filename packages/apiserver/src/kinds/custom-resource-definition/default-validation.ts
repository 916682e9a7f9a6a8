import { validateEmbeddedObjects } from "../../custom-resources/embedded-objects.js";
import { ExpressionRules, type RuleCompiler } from "../../custom-resources/expression-rules.js";
import type { Patterns } from "../../custom-resources/patterns.js";
import { type StructuralSchema, prune } from "../../custom-resources/structural-schema.js";
import { validateStructural } from "../../custom-resources/structural-validation.js";
import { FieldErrors } from "../../field-errors.js";
import { isJsonObject, jsonEqual } from "../../json.js";

/** The dependencies of default validation for one schema. */
interface DefaultValidationContext {
  readonly errors: FieldErrors;
  readonly patterns: Patterns;
  readonly compiler: RuleCompiler;
}

/**
 * Validates that defaults are valid values of their schema, including its rules. Upstream:
 * `defaulting.ValidateDefaults`.
 */
export function validateDefaults(
  schema: StructuralSchema,
  path: string,
  context: DefaultValidationContext,
  isRoot = true,
): void {
  const { default: value, items, properties = {} } = schema;
  const isResource = isRoot || schema["x-kubernetes-embedded-resource"] === true;
  if (value !== undefined && !(value === null && schema.nullable === true))
    validateDefault(schema, `${path}.default`, context, isResource);
  if (isJsonObject(items)) validateDefaults(items, `${path}.items`, context, false);
  for (const [name, property] of Object.entries(properties)) {
    // The server defines the schema of metadata.
    if (isResource && name === "metadata") continue;
    validateDefaults(property, `${path}.properties[${name}]`, context, false);
  }
}

function validateDefault(
  schema: StructuralSchema,
  field: string,
  { errors, patterns, compiler }: DefaultValidationContext,
  isResource: boolean,
): void {
  const { default: value } = schema;
  const found = new FieldErrors();
  if (!jsonEqual(prune(schema, value, undefined, [], isResource), value))
    found.invalid(field, value, "must not have unknown fields");
  validateEmbeddedObjects(schema, value, found, field, isResource);
  if (schema["x-kubernetes-int-or-string"] !== true)
    validateStructural(schema, value, { errors: found, patterns, field });
  if (found.isEmpty) ExpressionRules.of(schema, compiler, isResource)?.validateDefault(value, field, found);
  for (const error of found.all) errors.add(error);
}

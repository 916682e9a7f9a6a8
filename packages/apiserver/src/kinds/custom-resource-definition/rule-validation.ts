import { type RuleCompiler, fieldPathNames } from "../../custom-resources/expression-rules.js";
import { MAX_REQUEST_BYTES, type SchemaBinding, bindSchema } from "../../custom-resources/schema-values.js";
import type { StructuralSchema, ValidationRule } from "../../custom-resources/structural-schema.js";
import type { FieldErrors } from "../../field-errors.js";
import { validateSupported } from "../../validation/rules.js";
import { internalForm } from "../internal-form.js";

const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
/**
 * The maximum estimated cost units of one rule and of all rules of a schema. Upstream: `StaticEstimatedCostLimit`,
 * `StaticEstimatedCRDCostLimit`.
 */
const MAX_COST_PER_RULE = 10_000_000;
const MAX_COST_PER_SCHEMA = 100_000_000;
const MAX_CONTRIBUTORS = 10;
const ADVICE =
  "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)";

type Step = "items" | "values" | "junctor" | { readonly property: string };

/** A schema node and the maximum number of its values in one object. Upstream: `CELSchemaContext`. */
export interface RuleContext {
  readonly schema: StructuralSchema | undefined;
  readonly isResource: boolean;
  /** The product of the limits of all enclosing lists and maps; `undefined` when one of them is unbounded. */
  readonly maxCardinality: number | undefined;
  child(step: Step): RuleContext;
}

/** What the rules of one schema node have in common. */
interface RuleLocation {
  readonly declared: SchemaBinding["declared"];
  /** How many times a rule may be evaluated for one object. */
  readonly cardinality: number;
  /** The path of the enclosing list or map whose items have no correlated old values, if any. */
  readonly uncorrelatable: string | undefined;
}

/** Validates the rules of one schema. */
export class RuleValidator {
  readonly #compiler: RuleCompiler;
  #total = 0;
  readonly #contributors: { readonly path: string; readonly cost: number }[] = [];

  constructor(compiler: RuleCompiler) {
    this.#compiler = compiler;
  }

  root(schema: StructuralSchema): RuleContext {
    return contextOf(schema, true, 1);
  }

  /** Validates all fields of the rules, but does not compile the expressions. */
  validateRuleFields(schema: StructuralSchema, path: string, errors: FieldErrors): void {
    for (const [index, rule] of (schema["x-kubernetes-validations"] ?? []).entries())
      validateRuleFields(schema, rule, `${path}.x-kubernetes-validations[${index}]`, errors);
  }

  validateExpressions(
    schema: StructuralSchema,
    path: string,
    context: RuleContext,
    uncorrelatable: string | undefined,
    errors: FieldErrors,
  ): void {
    const rules = schema["x-kubernetes-validations"] ?? [];
    const at = `${path}.x-kubernetes-validations`;
    const binding = bindSchema(
      schema,
      "selfType",
      context.isResource || schema["x-kubernetes-embedded-resource"] === true,
    );
    if (binding === undefined) {
      errors.add({
        type: "InternalError",
        field: at,
        detail:
          "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations",
      });
      return;
    }
    const cardinality = context.maxCardinality ?? Math.floor(MAX_REQUEST_BYTES / (binding.declared.minBytes + 1));
    const location = { declared: binding.declared, cardinality, uncorrelatable };
    for (const [index, rule] of rules.entries()) this.#validateRule(rule, `${at}[${index}]`, location, errors);
  }

  #validateRule(
    rule: ValidationRule,
    path: string,
    { declared, cardinality, uncorrelatable }: RuleLocation,
    errors: FieldErrors,
  ): void {
    const isOptional = rule.optionalOldSelf === true;
    const shown = internalForm("", rule);
    const compiled = this.#compiler.compile(rule.rule ?? "", declared, isOptional);
    let usesOldSelf = false;
    if ("errors" in compiled) errors.invalid(`${path}.rule`, shown, `compilation failed: ${compiled.errors}`);
    else if (compiled.program.type.kind !== "bool")
      errors.invalid(`${path}.rule`, shown, "cel expression must evaluate to a bool");
    else {
      usesOldSelf = compiled.program.uses("oldSelf");
      this.#addCost(`${path}.rule`, "estimated rule cost", compiled.program.cost.max * cardinality, errors);
    }
    if (rule.messageExpression !== undefined && "program" in compiled) {
      const message = this.#compiler.compile(rule.messageExpression, declared, isOptional);
      const field = `${path}.messageExpression`;
      if ("errors" in message) errors.invalid(field, shown, `messageExpression compilation failed: ${message.errors}`);
      else if (message.program.type.kind !== "string")
        errors.invalid(field, shown, "messageExpression must evaluate to a string");
      else this.#addCost(field, "estimated messageExpression cost", message.program.cost.max, errors);
    }
    if (usesOldSelf && uncorrelatable !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`;
      errors.invalid(`${path}.rule`, rule.rule, detail);
    }
    if (rule.optionalOldSelf !== undefined && "program" in compiled && !usesOldSelf) {
      const detail = "may not be set if oldSelf is not used in rule";
      errors.invalid(`${path}.optionalOldSelf`, rule.optionalOldSelf, detail);
    }
  }

  #addCost(path: string, name: string, cost: number, errors: FieldErrors): void {
    if (cost > MAX_COST_PER_RULE) errors.forbidden(path, costExceededText(name, cost, MAX_COST_PER_RULE));
    this.#total += cost;
    this.#contributors.push({ path, cost });
  }

  /** Reports when the total cost of all rules exceeds the limit, with the most expensive rules. */
  reportTotal(path: string, errors: FieldErrors): void {
    if (this.#total <= MAX_COST_PER_SCHEMA) return;
    const mostExpensive = this.#contributors
      .filter(({ cost }) => cost >= MAX_COST_PER_SCHEMA / 100)
      .sort((a, b) => b.cost - a.cost)
      .slice(0, MAX_CONTRIBUTORS);
    for (const contributor of mostExpensive) {
      const detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
      errors.forbidden(contributor.path, detail);
    }
    const name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    errors.forbidden(path, costExceededText(name, this.#total, MAX_COST_PER_SCHEMA));
  }
}

function contextOf(
  schema: StructuralSchema | undefined,
  isResource: boolean,
  maxCardinality: number | undefined,
): RuleContext {
  const below = (part: unknown, multiplier: number | undefined): RuleContext => {
    const product =
      maxCardinality === undefined || multiplier === undefined ? undefined : maxCardinality * Math.max(0, multiplier);
    return contextOf(part as StructuralSchema | undefined, false, product);
  };
  return {
    schema,
    isResource,
    maxCardinality,
    child: (step) => {
      if (step === "junctor") return contextOf(undefined, false, maxCardinality);
      if (step === "items") return below(schema?.items, schema?.maxItems);
      if (step === "values") return below(schema?.additionalProperties, schema?.maxProperties);
      return below(schema?.properties?.[step.property], 1);
    },
  };
}

function costExceededText(name: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? "more than 100x" : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${name} exceeds budget by factor of ${shown} ${ADVICE}`;
}

function validateRuleFields(schema: StructuralSchema, rule: ValidationRule, path: string, errors: FieldErrors): void {
  const text = (rule.rule ?? "").trim();
  const message = (rule.message ?? "").trim();
  const hasLineBreaks = (value: string): boolean => /[\r\n]/.test(value);
  if (text === "") errors.required(`${path}.rule`, "rule is not specified");
  else if (rule.message && message === "")
    errors.invalid(`${path}.message`, rule.message, "must be non-empty if specified");
  else if (hasLineBreaks(message)) errors.invalid(`${path}.message`, rule.message, "must not contain line breaks");
  else if (hasLineBreaks(text) && message === "")
    errors.required(`${path}.message`, "message must be specified if rule contains line breaks");
  if (rule.messageExpression && rule.messageExpression.trim() === "")
    errors.required(`${path}.messageExpression`, "messageExpression must be non-empty if specified");
  validateSupported(rule.reason, REASONS, `${path}.reason`, errors);
  const { fieldPath } = rule;
  if (!fieldPath) return;
  if (fieldPath.trim() === "") errors.invalid(`${path}.fieldPath`, fieldPath, "must be non-empty if specified");
  if (hasLineBreaks(fieldPath)) errors.invalid(`${path}.fieldPath`, fieldPath, "must not contain line breaks");
  if (!isValidPath(schema, fieldPath)) errors.invalid(`${path}.fieldPath`, fieldPath, "must be a valid path");
}

/** Whether the path names a field or a map key. */
function isValidPath(schema: StructuralSchema, path: string): boolean {
  const names = fieldPathNames(path);
  if (names === undefined || names.length === 0) return false;
  let current: StructuralSchema | undefined = schema;
  for (const name of names) {
    current = memberOf(current, name);
    if (current === undefined) return false;
  }
  return true;
}

function memberOf({ properties, additionalProperties }: StructuralSchema, name: string): StructuralSchema | undefined {
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}

import {
  CostBudget,
  CostExceeded,
  type DeclaredType,
  EvaluationProblem,
  ExpressionEnvironment,
  Optional,
  type Program,
  type Value,
  optionalOf,
} from "@kubewright/cel";

import { type FieldError, type FieldErrors, errorBody, omittedValue } from "../field-errors.js";
import { isJsonObject, jsonEqual, ownMember } from "../json.js";
import { type SchemaBinding, bindSchema } from "./schema-values.js";
import { type StructuralSchema, type ValidationRule, someSchema } from "./structural-schema.js";
import { correlatedItems } from "./structural-validation.js";

/**
 * The maximum cost units of one rule, and of all rules for one object. Upstream: `celconfig.PerCallLimit`,
 * `RuntimeCELCostBudget`.
 */
const MAX_COST_PER_RULE = 1_000_000;
const MAX_COST_PER_OBJECT = 10_000_000;
const MAX_MESSAGE_BYTES = 5 * 1024;

/** A rule with its compiled expressions. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly program: Program | undefined;
  readonly message: Program | undefined;
  /** The compilation errors of the rule. */
  readonly errors: string | undefined;
}

/** Compiles rules. Creates its environment with the first rule. */
export class RuleCompiler {
  #environment: ExpressionEnvironment | undefined;

  compile(source: string, self: DeclaredType, optionalOldSelf: boolean): ReturnType<ExpressionEnvironment["compile"]> {
    this.#environment ??= new ExpressionEnvironment();
    const oldSelf = optionalOldSelf ? { ...self, type: optionalOf(self.type) } : self;
    return this.#environment.compile(
      source,
      new Map([
        ["self", self],
        ["oldSelf", oldSelf],
      ]),
    );
  }
}

/** The compiled rules of a schema and of all schemas below it. */
export class ExpressionRules {
  readonly #binding: SchemaBinding | undefined;
  readonly #schema: StructuralSchema;
  readonly #rules: readonly CompiledRule[];
  readonly #properties: ReadonlyMap<string, ExpressionRules>;
  readonly #values: ExpressionRules | undefined;
  readonly #items: ExpressionRules | undefined;

  /** Compiles the rules of a schema; `undefined` when it has no rules. */
  static of(schema: StructuralSchema | undefined, compiler: RuleCompiler, isRoot = true): ExpressionRules | undefined {
    return schema !== undefined && hasRules(schema) ? new ExpressionRules(schema, compiler, isRoot) : undefined;
  }

  private constructor(schema: StructuralSchema, compiler: RuleCompiler, isRoot: boolean) {
    this.#schema = schema;
    const below = (part: unknown): ExpressionRules | undefined =>
      isJsonObject(part) && hasRules(part) ? new ExpressionRules(part, compiler, false) : undefined;
    const rules = schema["x-kubernetes-validations"] ?? [];
    const isResource = isRoot || schema["x-kubernetes-embedded-resource"] === true;
    this.#binding = rules.length === 0 ? undefined : bindSchema(schema, "selfType", isResource);
    this.#rules = this.#binding === undefined ? [] : rules.map((rule) => compileRule(rule, this.#binding!, compiler));
    const properties = new Map<string, ExpressionRules>();
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const found = below(property);
      if (found !== undefined) properties.set(name, found);
    }
    this.#properties = properties;
    this.#values = below(schema.additionalProperties);
    this.#items = below(schema.items);
  }

  /**
   * Validates a value against the rules.
   *
   * @param old - The old value; `undefined` on create. With an old value, a rule that fails for an unchanged value
   * produces a warning instead of an error.
   */
  validate(value: unknown, errors: FieldErrors, old?: unknown): void {
    this.#run(value, old, "", { errors, budget: new CostBudget(MAX_COST_PER_OBJECT), ratchets: old !== undefined });
  }

  /** Validates a default. Transition rules get the default itself as the old value. */
  validateDefault(value: unknown, field: string, errors: FieldErrors): void {
    this.#run(value, value, field, { errors, budget: new CostBudget(MAX_COST_PER_OBJECT), ratchets: false });
  }

  #run(value: unknown, old: unknown, field: string, run: Run): void {
    try {
      this.#validate(value, old, field, run);
    } catch (error) {
      if (!(error instanceof CostExceeded)) throw error;
    }
  }

  #validate(value: unknown, old: unknown, field: string, run: Run): void {
    if (value === null || value === undefined) return;
    for (const rule of this.#rules) this.#apply(rule, value, old, field, run);
    if (Array.isArray(value)) {
      if (this.#items === undefined) return;
      const oldItem = correlatedItems(this.#schema, old);
      for (const [index, item] of (value as unknown[]).entries())
        this.#items.#validate(item, oldItem?.(item), `${field}[${index}]`, run);
      return;
    }
    if (!isJsonObject(value)) return;
    const before = isJsonObject(old) ? old : undefined;
    const oldMember = (name: string): unknown => (before === undefined ? undefined : ownMember(before, name));
    for (const [name, rules] of this.#properties)
      rules.#validate(ownMember(value, name), oldMember(name), field === "" ? name : `${field}.${name}`, run);
    if (this.#values === undefined) return;
    for (const name of Object.keys(value))
      this.#values.#validate(value[name], oldMember(name), `${field}[${name}]`, run);
  }

  #apply(compiled: CompiledRule, value: unknown, old: unknown, field: string, run: Run): void {
    const { rule, program } = compiled;
    const schemaType = this.#schema["x-kubernetes-int-or-string"] === true ? "" : (this.#schema.type ?? "");
    const at = field === "" ? "<nil>" : field;
    const fail = (detail: string): void => run.errors.invalid(at, schemaType, detail);
    if (program === undefined) {
      fail(`rule compile error: ${compiled.errors ?? ""}`);
      return;
    }
    const hasOld = old !== undefined && old !== null;
    const isTransition = program.uses("oldSelf");
    if (isTransition && rule.optionalOldSelf !== true && !hasOld) return;
    const ruleText = rule.message?.trim() ? rule.message.trim() : (rule.rule ?? "").trim();
    const variables = new Map<string, Value>();
    const budget = new CostBudget(Math.min(MAX_COST_PER_RULE, run.budget.limit - run.budget.spent));
    try {
      variables.set("self", this.#binding!.value(value));
      if (rule.optionalOldSelf === true)
        variables.set("oldSelf", new Optional(hasOld ? this.#binding!.value(old) : undefined));
      else if (hasOld) variables.set("oldSelf", this.#binding!.value(old));
      const holds = program.evaluate(variables, budget);
      run.budget.spend(budget.spent);
      if (holds === true) return;
    } catch (error) {
      if (error instanceof EvaluationProblem) {
        run.budget.spend(budget.spent);
        fail(
          error.message.startsWith("no such overload")
            ? `'${error.message}': call arguments did not match a supported operator, function or macro signature for rule: ${ruleText}`
            : `${error.message} evaluating rule: ${ruleText}`,
        );
        return;
      }
      if (!(error instanceof CostExceeded)) throw error;
      fail(
        budget.limit < MAX_COST_PER_RULE
          ? "validation failed due to running out of cost budget, no further validation rules will be run"
          : `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${ruleText}`,
      );
      throw error;
    }
    const found = this.#failure(compiled, value, at, variables, run);
    // An unchanged value is permitted, but produces a warning.
    if (run.ratchets && !isTransition && hasOld && jsonEqual(old, value))
      run.errors.warn(`${found.field}: ${errorBody(found)}`);
    else run.errors.add(found);
  }

  #failure(
    { rule, message }: CompiledRule,
    value: unknown,
    at: string,
    variables: Map<string, Value>,
    run: Run,
  ): FieldError {
    const detail = (message === undefined ? undefined : computedMessage(message, variables, run)) ?? plainMessage(rule);
    const field = rule.fieldPath === undefined ? at : joinPath(at, rule.fieldPath, this.#schema);
    const shown = typeof value === "object" ? omittedValue : value;
    switch (rule.reason) {
      case "FieldValueForbidden":
        return { type: "Forbidden", field, detail };
      case "FieldValueRequired":
        return { type: "Required", field, detail };
      case "FieldValueDuplicate":
        return { type: "Duplicate", field, value: shown, detail: "" };
      default:
        return { type: "Invalid", field, value: shown, detail };
    }
  }
}

interface Run {
  readonly errors: FieldErrors;
  readonly budget: CostBudget;
  /** Whether failures for unchanged values are permitted (validation ratcheting). */
  readonly ratchets: boolean;
}

function compileRule(rule: ValidationRule, binding: SchemaBinding, compiler: RuleCompiler): CompiledRule {
  const optional = rule.optionalOldSelf === true;
  const compiled = compiler.compile(rule.rule ?? "", binding.declared, optional);
  const message =
    rule.messageExpression === undefined
      ? undefined
      : compiler.compile(rule.messageExpression, binding.declared, optional);
  return {
    rule,
    program: "program" in compiled ? compiled.program : undefined,
    message: message !== undefined && "program" in message ? message.program : undefined,
    errors: "errors" in compiled ? compiled.errors : undefined,
  };
}

function hasRules(schema: StructuralSchema): boolean {
  return someSchema(schema, (each) => (each["x-kubernetes-validations"]?.length ?? 0) > 0);
}

function plainMessage(rule: ValidationRule): string {
  return rule.message ? rule.message.trim() : `failed rule: ${(rule.rule ?? "").trim()}`;
}

/** Evaluates a messageExpression; `undefined` when the result cannot be shown. */
function computedMessage(message: Program, variables: ReadonlyMap<string, Value>, run: Run): string | undefined {
  const budget = new CostBudget(Math.min(MAX_COST_PER_RULE, run.budget.limit - run.budget.spent));
  try {
    const text = message.evaluate(variables, budget);
    run.budget.spend(budget.spent);
    if (typeof text !== "string") return undefined;
    const trimmed = text.trim();
    if (trimmed === "" || /[\r\n]/.test(trimmed) || new TextEncoder().encode(trimmed).length > MAX_MESSAGE_BYTES)
      return undefined;
    return trimmed;
  } catch (error) {
    if (error instanceof EvaluationProblem || error instanceof CostExceeded) return undefined;
    throw error;
  }
}

/** Returns the names in a `fieldPath`, in dot or bracket notation; `undefined` when malformed. */
export function fieldPathNames(path: string): string[] | undefined {
  const names: string[] = [];
  let rest = path;
  while (rest !== "") {
    const match = /^\.([a-zA-Z_][\w-]*)|^\['((?:[^'\\]|\\.)*)'\]/.exec(rest);
    if (match === null) return undefined;
    names.push(match[1] ?? match[2]!.replace(/\\(.)/g, "$1"));
    rest = rest.slice(match[0].length);
  }
  return names;
}

/** Appends a `fieldPath` to a path: object fields with a dot, map keys in brackets. */
function joinPath(at: string, path: string, schema: StructuralSchema): string {
  let text = at === "<nil>" ? "" : at;
  let current: StructuralSchema | undefined = schema;
  for (const name of fieldPathNames(path) ?? []) {
    const properties: StructuralSchema["properties"] = current?.properties;
    if (properties !== undefined && Object.hasOwn(properties, name)) {
      text += text === "" ? name : `.${name}`;
      current = properties[name];
    } else {
      text += `[${name}]`;
      current = typeof current?.additionalProperties === "object" ? current.additionalProperties : undefined;
    }
  }
  return text;
}

import type { DeepReadonly, ValidatingAdmissionPolicy } from "@kubewright/api";
import { byteLength } from "@kubewright/api/validation";
import { CostBudget, type Program, type Type, type Value } from "@kubewright/cel";

import type { AdmissionExpressions, ExpressionScope, ExpectedResult } from "./expressions.js";
import { LazyVariables } from "./lazy-variables.js";
import { type EvaluationResult, MatchConditions, evaluate } from "./match-conditions.js";
import { RequestMatcher } from "./request-matcher.js";

/**
 * Cost limits for one policy and one request: of all expressions together, and of each expression. Upstream:
 * `celconfig`.
 */
const MAX_COST = 10_000_000;
const MAX_COST_PER_EXPRESSION = 1_000_000;
const MAX_MESSAGE_BYTES = 5 * 1024;
const MAX_ANNOTATION_CHARACTERS = 10 * 1024;
const OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run";

/** A failed validation of a policy. */
export interface Finding {
  readonly message: string;
  readonly reason: string;
  /** Index of the validation, from 0. */
  readonly index: number;
}

/** Result of evaluating a policy for one request. */
export interface PolicyResult {
  /** In the order of the policy's validations. */
  readonly findings: readonly Finding[];
  /** Audit annotations; the keys have no policy name prefix. */
  readonly annotations: readonly { readonly key: string; readonly value: string }[];
  /** Evaluation errors of audit annotations. They deny the request, whatever the binding's validation actions are. */
  readonly annotationErrors: readonly string[];
}

const NO_FINDINGS: PolicyResult = { findings: [], annotations: [], annotationErrors: [] };

interface Validation {
  readonly expression: string;
  readonly program: Program;
  readonly message: string;
  readonly messageProgram: Program | undefined;
  readonly reason: string;
}

interface Variable {
  readonly name: string;
  readonly program: Program;
}

/**
 * A policy with compiled expressions. Upstream: `validator` of apiserver's `pkg/admission/plugin/policy/validating`.
 */
export class CompiledPolicy {
  readonly name: string;
  readonly matcher: RequestMatcher;
  readonly paramKind: { readonly apiVersion: string; readonly kind: string } | undefined;
  readonly failsOpen: boolean;
  readonly #conditions: MatchConditions;
  readonly #variables: readonly Variable[];
  readonly #validations: readonly Validation[];
  readonly #annotations: readonly { readonly key: string; readonly expression: string; readonly program: Program }[];

  constructor({ metadata, spec = {} }: DeepReadonly<ValidatingAdmissionPolicy>, compiler: AdmissionExpressions) {
    const { paramKind, failurePolicy, matchConstraints = {}, matchConditions = [], variables = [] } = spec;
    const { validations = [], auditAnnotations = [] } = spec;
    this.name = metadata.name ?? "";
    this.matcher = new RequestMatcher(matchConstraints);
    this.paramKind =
      paramKind === undefined ? undefined : { apiVersion: paramKind.apiVersion ?? "", kind: paramKind.kind ?? "" };
    this.failsOpen = failurePolicy === "Ignore";
    const params = paramKind !== undefined;
    const types = new Map<string, Type>();
    const names: ExpressionScope = { params, authorizer: true, variables: types };
    // Validation of the policy has already compiled every expression without error.
    const compile = (source: string, expected: ExpectedResult): Program | undefined => {
      const compiled = compiler.compile(source, expected, names);
      return "program" in compiled ? compiled.program : undefined;
    };
    this.#conditions = new MatchConditions(matchConditions, compiler, { params, authorizer: true }, this.failsOpen);
    this.#variables = variables.flatMap(({ name, expression }) => {
      const program = compile(expression, "any");
      if (program !== undefined) types.set(name, program.type);
      return program === undefined ? [] : { name, program };
    });
    this.#validations = validations.flatMap(({ expression, message = "", messageExpression, reason = "Invalid" }) => {
      const program = compile(expression, "bool");
      if (program === undefined) return [];
      const messageProgram = messageExpression === undefined ? undefined : compile(messageExpression, "string");
      return { expression, program, message: message.trim(), messageProgram, reason };
    });
    this.#annotations = auditAnnotations.flatMap(({ key, valueExpression }) => {
      const program = compile(valueExpression.trim(), "string or null");
      return program === undefined ? [] : { key, expression: valueExpression.trim(), program };
    });
  }

  /** @param variables - Include `params` if the policy has a `paramKind`. */
  evaluate(variables: ReadonlyMap<string, Value>): PolicyResult {
    const matched = this.#conditions.match(variables);
    if (matched === false) return NO_FINDINGS;
    if (matched !== true)
      return { ...NO_FINDINGS, findings: [{ message: matched.problem, reason: "Invalid", index: 0 }] };
    const budget = new CostBudget(MAX_COST);
    const all = new Map(variables);
    if (this.#variables.length > 0) all.set("variables", this.#lazyVariables(all, budget));
    const findings: Finding[] = [];
    for (const [index, validation] of this.#validations.entries()) {
      const { expression, program, reason } = validation;
      const result = run(program, expression, all, budget);
      if ("problem" in result) {
        if (!this.failsOpen) findings.push({ message: result.problem, reason: "Invalid", index });
      } else if (result.value !== true) findings.push({ message: failureText(validation, all, budget), reason, index });
    }
    return { findings, ...this.#annotate(all, budget) };
  }

  #annotate(
    all: ReadonlyMap<string, Value>,
    budget: CostBudget,
  ): Pick<PolicyResult, "annotations" | "annotationErrors"> {
    const annotations: { key: string; value: string }[] = [];
    const annotationErrors: string[] = [];
    for (const { key, expression, program } of this.#annotations) {
      const result = run(program, expression, all, budget);
      if ("problem" in result) {
        if (!this.failsOpen) annotationErrors.push(result.problem);
        continue;
      }
      const value = typeof result.value === "string" ? result.value.trim() : "";
      if (value !== "") annotations.push({ key, value: value.slice(0, MAX_ANNOTATION_CHARACTERS) });
    }
    return { annotations, annotationErrors };
  }

  #lazyVariables(variables: ReadonlyMap<string, Value>, budget: CostBudget): LazyVariables {
    return new LazyVariables(
      new Map(this.#variables.map(({ name, program }) => [name, () => program.evaluate(variables, budget)])),
    );
  }
}

function run(
  program: Program,
  expression: string,
  variables: ReadonlyMap<string, Value>,
  budget: CostBudget,
): EvaluationResult {
  const left = budget.limit - budget.spent;
  if (left <= 0) return { problem: OUT_OF_BUDGET };
  const own = new CostBudget(Math.min(MAX_COST_PER_EXPRESSION, left));
  const result = evaluate(program, expression, variables, own);
  // When the expression exceeds its own budget, the total is charged no more than what was left.
  budget.spend(Math.min(own.spent, left));
  return result;
}

/**
 * Returns the value of the message expression. If it is empty, too long or has a line break, returns the message, else
 * a default text.
 */
function failureText(
  { expression, message, messageProgram }: Validation,
  variables: ReadonlyMap<string, Value>,
  budget: CostBudget,
): string {
  if (messageProgram !== undefined) {
    const result = run(messageProgram, "", variables, budget);
    const text = "value" in result && typeof result.value === "string" ? result.value.trim() : "";
    if (text !== "" && !/[\r\n]/.test(text) && byteLength(text) <= MAX_MESSAGE_BYTES) return text;
  }
  return message === "" ? `failed expression: ${expression.trim()}` : message;
}

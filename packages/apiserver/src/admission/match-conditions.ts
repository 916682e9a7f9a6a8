import type { DeepReadonly } from "@kubewright/api";
import { CostBudget, CostExceeded, EvaluationProblem, type Program, type Value } from "@kubewright/cel";

import type { MatchCondition } from "../kinds/admissionregistration/match-conditions.js";
import type { AdmissionExpressions, ExpressionScope } from "./expressions.js";

/**
 * Cost limit of all match conditions of one webhook or policy together. Upstream:
 * `RuntimeCELCostBudgetMatchConditions`.
 */
const MAX_COST = 2_500_000;

export type EvaluationResult = { readonly value: Value } | { readonly problem: string };

/**
 * Evaluates a compiled expression.
 *
 * @param expression - Source of the expression, for the error message.
 */
export function evaluate(
  program: Program,
  expression: string,
  variables: ReadonlyMap<string, Value>,
  budget: CostBudget,
): EvaluationResult {
  try {
    return { value: program.evaluate(variables, budget) };
  } catch (error) {
    if (error instanceof EvaluationProblem || error instanceof CostExceeded)
      return { problem: `expression '${expression}' resulted in error: ${error.message}` };
    throw error;
  }
}

/** Match conditions that must all be true. Upstream: apiserver `pkg/admission/plugin/webhook/matchconditions`. */
export class MatchConditions {
  readonly #conditions: readonly { readonly expression: string; readonly program: Program }[];

  constructor(
    conditions: DeepReadonly<readonly MatchCondition[]>,
    compiler: AdmissionExpressions,
    names: ExpressionScope,
    readonly failsOpen: boolean,
  ) {
    this.#conditions = conditions.flatMap(({ expression }) => {
      const compiled = compiler.compile(expression.trim(), "bool", names);
      // Validation of the configuration has already compiled every condition without error.
      return "program" in compiled ? [{ expression: expression.trim(), program: compiled.program }] : [];
    });
  }

  get isEmpty(): boolean {
    return this.#conditions.length === 0;
  }

  /**
   * Returns whether all conditions are true, or the evaluation error. A false condition takes precedence over an error.
   */
  match(variables: ReadonlyMap<string, Value>): boolean | { readonly problem: string } {
    const budget = new CostBudget(MAX_COST);
    const problems: string[] = [];
    for (const { expression, program } of this.#conditions) {
      const result = evaluate(program, expression, variables, budget);
      if ("problem" in result) problems.push(result.problem);
      else if (result.value === false) return false;
    }
    if (problems.length === 0) return true;
    if (this.failsOpen) return false;
    return { problem: problems.length === 1 ? problems[0]! : `[${problems.join(", ")}]` };
  }
}

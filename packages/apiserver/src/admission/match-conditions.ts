import type { DeepReadonly } from "@kubewright/api";

import { CostBudget, CostExceeded, EvaluationProblem, type Program, type Value } from "../cel/index.js";
import type { MatchCondition } from "../kinds/admissionregistration/match-conditions.js";
import type { AdmissionExpressions, ExpressionScope } from "./expressions.js";

/** What all conditions of one webhook or policy may cost together. Upstream: `RuntimeCELCostBudgetMatchConditions`. */
const MAX_COST = 2_500_000;

export type EvaluationResult = { readonly value: Value } | { readonly problem: string };

/** @param expression - As it was compiled, for the text. */
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

/** Conditions that all must hold. Upstream: apiserver `pkg/admission/plugin/webhook/matchconditions`. */
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
      // They compiled when they were written.
      return "program" in compiled ? [{ expression: expression.trim(), program: compiled.program }] : [];
    });
  }

  get isEmpty(): boolean {
    return this.#conditions.length === 0;
  }

  /** Whether all hold; or why that cannot be told, which a condition that does not hold makes irrelevant. */
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

import { tryParseGoDuration } from "@kubewright/cron";

import { check } from "./checker.js";
import type { CheckedExpression } from "./checker.js";
import type { Range } from "./cost.js";
import type { DeclaredType } from "./declared-type.js";
import { estimate } from "./estimator.js";
import type { CostBudget } from "./cost-budget.js";
import { type Evaluation, evaluation } from "./evaluator.js";
import { type FunctionLibrary, type FunctionTable, functionTable } from "./functions.js";
import { kubernetesFunctions } from "./kubernetes-functions.js";
import { listFunctions } from "./list-functions.js";
import { Regexes } from "./regexes.js";
import { standardFunctions } from "./standard-functions.js";
import { type Expression, Parser, SyntaxProblem } from "./syntax.js";
import { textFunctions } from "./text-functions.js";
import { TimeZones, parseTimestamp } from "./time.js";
import type { Type } from "./types.js";
import type { Value } from "./values.js";

/** A compiled expression without errors. */
export interface Program {
  readonly type: Type;
  /** The estimated cost in cost units. */
  readonly cost: Range;
  /** Whether the expression reads the variable. */
  uses(variable: string): boolean;
  /**
   * @throws EvaluationProblem when the expression has no value; the message is upstream's
   * @throws CostExceeded when the budget is spent
   */
  evaluate(variables: ReadonlyMap<string, Value>, budget: CostBudget): Value;
}

/**
 * Compiles expressions of the Common Expression Language (CEL) with the functions of Kubernetes.
 *
 * Everything is bounded: expressions by the parser's limits, evaluations by their cost budget, and regular expressions
 * by RE2.
 *
 * A library parses the syntax. Types, costs and functions are implemented here, because no library has what rules need:
 * the types of schemas, upstream's cost of each call, and regular expressions with linear matching time.
 *
 * Upstream: `pkg/cel/environment` in apiserver.
 */
export class ExpressionEnvironment {
  readonly #parser = new Parser();
  readonly #regexes = new Regexes();
  readonly #functions: FunctionTable;

  /** @param more - Functions that only some expressions have, such as those of an authorizer. */
  constructor(...more: readonly FunctionLibrary[]) {
    this.#functions = functionTable(
      standardFunctions(this.#regexes, new TimeZones()),
      textFunctions(this.#regexes),
      listFunctions,
      ...kubernetesFunctions,
      ...more,
    );
  }

  /**
   * Compiles a source to a program. On failure returns all errors as one text in upstream's format, each with its line
   * and column.
   */
  compile(
    source: string,
    variables: ReadonlyMap<string, DeclaredType>,
  ): { readonly program: Program } | { readonly errors: string } {
    let expression: Expression;
    try {
      expression = this.#parser.parse(source);
    } catch (error) {
      if (!(error instanceof SyntaxProblem)) throw error;
      return { errors: formatProblem(source, error) };
    }
    const types = new Map([...variables].map(([name, { type }]) => [name, type]));
    const result = check(expression, types, this.#functions);
    if ("problems" in result)
      return { errors: result.problems.map((problem) => formatProblem(source, problem)).join("\n") };
    const problems = [...subexpressions(expression)].flatMap((subexpression) => this.#literalProblems(subexpression));
    if (problems.length > 0) return { errors: problems.map((problem) => formatProblem(source, problem)).join("\n") };
    return { program: programOf(result.checked, variables) };
  }

  /** Reports literal arguments that the called function cannot parse. Upstream: cel-go `cel/validator.go`. */
  #literalProblems(subexpression: Expression): { at: number; message: string }[] {
    if (subexpression.kind !== "call") return [];
    const last = subexpression.args.at(-1);
    if (last?.kind !== "literal" || typeof last.value !== "string") return [];
    const isInvalid =
      (subexpression.name === "matches" && !this.#regexes.isValid(last.value)) ||
      (subexpression.name === "duration" && tryParseGoDuration(last.value) === undefined) ||
      (subexpression.name === "timestamp" && parseTimestamp(last.value) === undefined);
    return isInvalid ? [{ at: last.at, message: `invalid ${subexpression.name} argument` }] : [];
  }
}

function programOf(checked: CheckedExpression, variables: ReadonlyMap<string, DeclaredType>): Program {
  const used = new Set<string>();
  for (const subexpression of subexpressions(checked.expression))
    if (subexpression.kind === "identifier") used.add(subexpression.name);
  let run: Evaluation | undefined;
  return {
    type: checked.type,
    cost: estimate(checked, variables),
    uses: (name) => used.has(name),
    evaluate: (values, budget) => (run ??= evaluation(checked))(values, budget),
  };
}

function* subexpressions(expression: Expression): Generator<Expression> {
  yield expression;
  switch (expression.kind) {
    case "select":
      yield* subexpressions(expression.operand);
      return;
    case "call":
      if (expression.target !== undefined) yield* subexpressions(expression.target);
      for (const arg of expression.args) yield* subexpressions(arg);
      return;
    case "list":
      for (const item of expression.items) yield* subexpressions(item);
      return;
    case "map":
      for (const [key, value] of expression.entries) {
        yield* subexpressions(key);
        yield* subexpressions(value);
      }
      return;
    case "comprehension":
      for (const part of [expression.range, expression.start, expression.condition, expression.step, expression.result])
        yield* subexpressions(part);
      return;
    default:
  }
}

/**
 * Formats an error as `ERROR: <input>:1:5: undefined field 'x'`, the source line, and a mark below the column.
 * Upstream: cel-go `common/error.go`.
 */
function formatProblem(source: string, { at, message }: { readonly at: number; readonly message: string }): string {
  const before = source.slice(0, at).split("\n");
  const column = Array.from(before.at(-1)!).length;
  const line = source.split("\n")[before.length - 1]!.replaceAll("\t", " ");
  return `ERROR: <input>:${before.length}:${column + 1}: ${message}\n | ${line}\n | ${".".repeat(column)}^`;
}

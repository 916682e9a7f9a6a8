import { type CostModel, constantCost } from "./cost.js";
import type { Type } from "./types.js";
import type { Value } from "./values.js";

/** One signature of a function. */
export interface Overload {
  /** Whether the function is called on its first parameter: `text.size()`. */
  readonly isMember: boolean;
  /** The parameter types, the receiver first. */
  readonly parameters: readonly Type[];
  readonly result: Type;
  readonly cost: CostModel;
  /** @throws EvaluationProblem */
  readonly call: (...args: readonly Value[]) => Value;
}

/** All functions by name. Operators have the names of cel-go: `_+_`. */
export type FunctionTable = ReadonlyMap<string, readonly Overload[]>;

/** A group of related functions by name. */
export type FunctionLibrary = Readonly<Record<string, readonly Overload[]>>;

/**
 * The implementation of an overload. The checker and the evaluator guarantee that the arguments match the parameter
 * types.
 */
export type Handler = (...args: never[]) => Value;

type MakeOverload = (parameters: readonly Type[], result: Type, call: Handler, cost?: CostModel) => Overload;

const overloads =
  (isMember: boolean): MakeOverload =>
  (parameters, result, call, cost = constantCost) => ({
    isMember,
    parameters,
    result,
    cost,
    call: call as Overload["call"],
  });

export const global = overloads(false);
export const member = overloads(true);

export function functionTable(...libraries: readonly FunctionLibrary[]): FunctionTable {
  const table = new Map<string, Overload[]>();
  for (const library of libraries)
    for (const [name, overloads] of Object.entries(library)) {
      const known = table.get(name);
      if (known === undefined) table.set(name, [...overloads]);
      else known.push(...overloads);
    }
  return table;
}

import { type CostModel, constantCost } from "./cost.js";
import type { Type } from "./types.js";
import type { Value } from "./values.js";

/** One way to call a function. */
export interface Overload {
  /** Called on its first parameter: `text.size()`. */
  readonly isMember: boolean;
  /** The receiver is the first. */
  readonly parameters: readonly Type[];
  readonly result: Type;
  readonly cost: CostModel;
  /** @throws EvaluationProblem */
  readonly call: (...args: readonly Value[]) => Value;
}

/** Every function by its name, operators as cel-go names them: `_+_`. */
export type FunctionTable = ReadonlyMap<string, readonly Overload[]>;

/** Functions of one kind. */
export type FunctionLibrary = Readonly<Record<string, readonly Overload[]>>;

/** What a handler takes is what its parameters' types say, which the check and the evaluation see to. */
export type Handler = (...args: never[]) => Value;

export function global(
  parameters: readonly Type[],
  result: Type,
  call: Handler,
  cost: CostModel = constantCost,
): Overload {
  return { isMember: false, parameters, result, cost, call: call as Overload["call"] };
}

export function member(
  parameters: readonly Type[],
  result: Type,
  call: Handler,
  cost: CostModel = constantCost,
): Overload {
  return { isMember: true, parameters, result, cost, call: call as Overload["call"] };
}

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

import type { CheckedExpression } from "./checker.js";
import { LIST_COST, MAP_COST, type Range, type Sized, exactly } from "./cost.js";
import type { Comprehension, Expression } from "./syntax.js";
import { UnsignedInteger } from "./syntax.js";
import {
  Entries,
  EvaluationProblem,
  Items,
  ListValue,
  MapValue,
  Optional,
  TypeValue,
  type Value,
  fits,
  keyText,
  sizeOfValue,
  typeNameOf,
  typeOfValue,
} from "./values.js";

/** What an evaluation may still cost, and what it has. */
export class CostBudget {
  #spent = 0;

  constructor(readonly limit: number) {}

  get spent(): number {
    return this.#spent;
  }

  /** @throws CostExceeded */
  spend(cost: number): void {
    this.#spent += cost;
    if (this.#spent > this.limit) throw new CostExceeded("operation cancelled: actual cost limit exceeded");
  }
}

export class CostExceeded extends Error {}

/** An error that a loop carries along until it is known whether it matters. */
class Failure {
  constructor(readonly problem: EvaluationProblem) {}
}

type Scope = Map<string, Value | Failure>;

/** Upstream: cel-go `interpreter`, with its cost tracking. */
export function evaluate(checked: CheckedExpression, variables: ReadonlyMap<string, Value>, budget: CostBudget): Value {
  return new Evaluator(checked, variables, budget).value(checked.expression);
}

class Evaluator {
  readonly #checked: CheckedExpression;
  readonly #variables: ReadonlyMap<string, Value>;
  readonly #budget: CostBudget;
  readonly #scopes: Scope[] = [];

  constructor(checked: CheckedExpression, variables: ReadonlyMap<string, Value>, budget: CostBudget) {
    this.#checked = checked;
    this.#variables = variables;
    this.#budget = budget;
  }

  value(expression: Expression): Value {
    switch (expression.kind) {
      case "literal":
        return expression.value;
      case "identifier":
        return this.#identifier(expression);
      case "select": {
        const named = this.#checked.namedType(expression);
        if (named !== undefined) return new TypeValue(named);
        return this.#select(expression);
      }
      case "call":
        return this.#call(expression);
      case "list":
        this.#budget.spend(LIST_COST);
        return new Items(expression.items.map((item) => this.value(item)));
      case "map": {
        this.#budget.spend(MAP_COST);
        const entries = new Entries();
        for (const [key, value] of expression.entries)
          if (!entries.add(this.value(key), this.value(value))) throw new EvaluationProblem("Failed with repeated key");
        return entries;
      }
      case "comprehension":
        return this.#loop(expression);
      default:
        return expression satisfies never;
    }
  }

  #identifier(expression: Extract<Expression, { kind: "identifier" }>): Value {
    this.#budget.spend(1);
    for (let index = this.#scopes.length - 1; index >= 0; index--) {
      const value = this.#scopes[index]!.get(expression.name);
      if (value instanceof Failure) throw value.problem;
      if (value !== undefined) return value;
    }
    const value = this.#variables.get(expression.name);
    if (value !== undefined) return value;
    const named = this.#checked.namedType(expression);
    if (named !== undefined) return new TypeValue(named);
    throw new EvaluationProblem(`no such attribute(s): ${expression.name}`);
  }

  #select({ operand, field, test }: Extract<Expression, { kind: "select" }>): Value {
    const holder = this.value(operand);
    if (!test) this.#budget.spend(1);
    if (holder instanceof Optional) {
      if (holder.value === undefined) return test ? false : holder;
      const found = memberOf(holder.value, field);
      return test ? found !== undefined : new Optional(found);
    }
    const found = memberOf(holder, field);
    if (test) return found !== undefined;
    if (found === undefined) throw new EvaluationProblem(`no such key: ${field}`);
    return found;
  }

  #call(expression: Extract<Expression, { kind: "call" }>): Value {
    const { name, args, target } = expression;
    switch (name) {
      case "_&&_":
        return this.#junction(args[0]!, args[1]!, false);
      case "_||_":
        return this.#junction(args[0]!, args[1]!, true);
      case "_?_:_": {
        const condition = this.value(args[0]!);
        if (typeof condition !== "boolean") throw new EvaluationProblem("no such overload");
        return this.value(condition ? args[1]! : args[2]!);
      }
      case "@not_strictly_false":
        return this.#attempt(args[0]!) !== false;
      case "or":
      case "orValue": {
        const optional = this.value(target!);
        if (!(optional instanceof Optional)) throw new EvaluationProblem("no such overload");
        this.#budget.spend(1);
        if (optional.value === undefined) return this.value(args[0]!);
        return name === "or" ? optional : optional.value;
      }
      default:
    }
    const values = args.map((arg) => this.value(arg));
    const overloads = this.#checked.overloadsOf(expression);
    // A namespace is no value.
    const given = overloads[0]?.isMember === true ? [this.value(target!), ...values] : values;
    if (expression.grows === true) return this.#grow(name, given);
    const overload = overloads.find(({ parameters }) => parameters.every((type, index) => fits(given[index]!, type)));
    if (overload === undefined) throw new EvaluationProblem("no such overload");
    this.#budget.spend(overload.cost(given.map((value) => sized(value))).cost.max);
    return overload.call(...given);
  }

  /** Adds to a list or map that only this loop has. */
  #grow(name: string, [holder, ...added]: readonly Value[]): Value {
    this.#budget.spend(1);
    if (name === "_+_") {
      (holder as Items).items.push(...(added[0] as Items).items);
      return holder!;
    }
    const entries = holder as Entries;
    const insert = (key: Value, value: Value): void => {
      if (!entries.add(key, value)) throw new EvaluationProblem(`insert failed: key ${keyText(key)} already exists`);
    };
    if (added.length === 2) insert(added[0]!, added[1]!);
    else for (const key of (added[0] as MapValue).keys()) insert(key, (added[0] as MapValue).get(key)!);
    return entries;
  }

  /** `&&` and `||`: what settles it, on whichever side, matters more than an error on the other. */
  #junction(left: Expression, right: Expression, settling: boolean): boolean {
    const first = this.#attempt(left);
    if (first === settling) return settling;
    const second = this.#attempt(right);
    if (second === settling) return settling;
    for (const side of [first, second]) {
      if (side instanceof Failure) throw side.problem;
      if (typeof side !== "boolean") throw new EvaluationProblem("no such overload");
    }
    return !settling;
  }

  #attempt(expression: Expression): Value | Failure {
    try {
      return this.value(expression);
    } catch (error) {
      if (error instanceof EvaluationProblem) return new Failure(error);
      throw error;
    }
  }

  #loop(loop: Comprehension): Value {
    const range = this.value(loop.range);
    const outer: Scope = new Map([[loop.accumulator, this.value(loop.start)]]);
    this.#scopes.push(outer);
    for (const [key, value] of pairs(range, loop.second !== undefined)) {
      const names: Scope = new Map([[loop.variable, key]]);
      if (loop.second !== undefined) names.set(loop.second, value!);
      this.#scopes.push(names);
      const goesOn = this.value(loop.condition);
      if (goesOn === true) outer.set(loop.accumulator, this.#attempt(loop.step));
      this.#scopes.pop();
      if (goesOn !== true) break;
      // Only quantifiers look past an error: their condition says so.
      const accumulated = outer.get(loop.accumulator);
      if (accumulated instanceof Failure && loop.condition.kind === "literal") throw accumulated.problem;
    }
    const result = this.value(loop.result);
    this.#scopes.pop();
    return result;
  }
}

function memberOf(holder: Value, field: string): Value | undefined {
  if (holder instanceof MapValue) return holder.get(field);
  throw new EvaluationProblem(`no such overload: ${typeNameOf(holder)}.${field}`);
}

function* pairs(range: Value, both: boolean): Generator<readonly [Value, Value | undefined]> {
  if (range instanceof ListValue) {
    for (let index = 0; index < range.size; index++) {
      const item = range.at(index);
      yield both ? [BigInt(index), item] : [item, undefined];
    }
    return;
  }
  if (!(range instanceof MapValue)) throw new EvaluationProblem(`got '${typeNameOf(range)}', expected iterable type`);
  for (const key of range.keys()) yield [key, both ? range.get(key) : undefined];
}

function sized(value: Value): Sized {
  const size: Range = exactly(sizeOfValue(value));
  const item = value instanceof ListValue && value.size > 0 ? value.at(0) : undefined;
  return {
    type: typeOfValue(value),
    size,
    item: item === undefined ? undefined : { type: typeOfValue(item), size: exactly(sizeOfValue(item)) },
    constant:
      typeof value === "bigint" ? Number(value) : value instanceof UnsignedInteger ? Number(value.value) : undefined,
  };
}

import type { CheckedExpression } from "./checker.js";
import type { CostBudget } from "./cost-budget.js";
import { LIST_COST, MAP_COST, type Range, type Sized, constantCost, exactly } from "./cost.js";
import type { Overload } from "./functions.js";
import { type Call, type Comprehension, type Expression, UnsignedInteger } from "./syntax.js";
import type { Type } from "./types.js";
import {
  MutableMapValue,
  EvaluationProblem,
  ArrayListValue,
  ListValue,
  MapValue,
  Optional,
  TypeValue,
  type Value,
  typePredicate,
  sizeOfValue,
  typeNameOf,
  typeOfValue,
} from "./values.js";

/** An error that a loop stores in its accumulator until the result shows whether it matters. */
class Failure {
  constructor(readonly problem: EvaluationProblem) {}
}

/** The state of one evaluation: its variables, its budget and the slots of its loop variables. */
interface Frame {
  readonly variables: ReadonlyMap<string, Value>;
  readonly budget: CostBudget;
  readonly slots: (Value | Failure)[];
}

/** A planned subexpression. The planner resolves names and overloads once, not for each item of a list. */
type Step = (frame: Frame) => Value;

/** Evaluates an expression. May be called any number of times. */
export type Evaluation = (variables: ReadonlyMap<string, Value>, budget: CostBudget) => Value;

/** Plans the evaluation of a checked expression. Upstream: cel-go `interpreter`, with its cost tracking. */
export function evaluation(checked: CheckedExpression): Evaluation {
  const step = new Planner(checked).step(checked.expression);
  return (variables, budget) => step({ variables, budget, slots: [] });
}

/** Upstream: cel-go `interpreter/planner.go`. */
class Planner {
  readonly #checked: CheckedExpression;
  /** The slots of loop variables by name, the innermost last. */
  readonly #slots = new Map<string, number[]>();
  #nextSlot = 0;

  constructor(checked: CheckedExpression) {
    this.#checked = checked;
  }

  step(expression: Expression): Step {
    switch (expression.kind) {
      case "literal": {
        const { value } = expression;
        return () => value;
      }
      case "identifier":
        return this.#identifier(expression);
      case "select": {
        const named = this.#checked.namedType(expression);
        if (named !== undefined) return () => new TypeValue(named);
        return this.#select(expression);
      }
      case "call":
        return this.#call(expression);
      case "list": {
        const items = expression.items.map((item) => this.step(item));
        return (frame) => {
          frame.budget.spend(LIST_COST);
          return new ArrayListValue(items.map((item) => item(frame)));
        };
      }
      case "map":
        return this.#map(expression);
      case "comprehension":
        return this.#loop(expression);
      default:
        return expression satisfies never;
    }
  }

  #identifier(expression: Extract<Expression, { kind: "identifier" }>): Step {
    const { name } = expression;
    const slot = this.#slots.get(name)?.at(-1);
    if (slot !== undefined) {
      return ({ budget, slots }) => {
        budget.spend(1);
        const value = slots[slot]!;
        if (value instanceof Failure) throw value.problem;
        return value;
      };
    }
    const named = this.#checked.namedType(expression);
    return ({ budget, variables }) => {
      budget.spend(1);
      const value = variables.get(name);
      if (value !== undefined) return value;
      if (named !== undefined) return new TypeValue(named);
      throw new EvaluationProblem(`no such attribute(s): ${name}`);
    };
  }

  #select({ operand, field, test }: Extract<Expression, { kind: "select" }>): Step {
    const operandStep = this.step(operand);
    return (frame) => {
      const container = operandStep(frame);
      if (!test) frame.budget.spend(1);
      if (container instanceof Optional) {
        if (container.value === undefined) return test ? false : container;
        const found = memberOf(container.value, field);
        return test ? found !== undefined : new Optional(found);
      }
      const found = memberOf(container, field);
      if (test) return found !== undefined;
      if (found === undefined) throw new EvaluationProblem(`no such key: ${field}`);
      return found;
    };
  }

  #map({ entries }: Extract<Expression, { kind: "map" }>): Step {
    const steps = entries.map(([key, value]) => [this.step(key), this.step(value)] as const);
    return (frame) => {
      frame.budget.spend(MAP_COST);
      const result = new MutableMapValue();
      for (const [key, value] of steps)
        if (!result.add(key(frame), value(frame))) throw new EvaluationProblem("Failed with repeated key");
      return result;
    };
  }

  #call(expression: Call): Step {
    const { name, target } = expression;
    const args = expression.args.map((arg) => this.step(arg));
    const [first, second, third] = args;
    switch (name) {
      case "_&&_":
        return logicalOperator(first!, second!, false);
      case "_||_":
        return logicalOperator(first!, second!, true);
      case "_?_:_":
        return (frame) => {
          const condition = first!(frame);
          if (typeof condition !== "boolean") throw new EvaluationProblem("no such overload");
          return condition ? second!(frame) : third!(frame);
        };
      case "@not_strictly_false":
        return (frame) => evaluateCatching(first!, frame) !== false;
      case "or":
      case "orValue": {
        const receiver = this.step(target!);
        return (frame) => {
          const optional = receiver(frame);
          if (!(optional instanceof Optional)) throw new EvaluationProblem("no such overload");
          frame.budget.spend(1);
          if (optional.value === undefined) return first!(frame);
          return name === "or" ? optional : optional.value;
        };
      }
      default:
    }
    const overloads = this.#checked.overloadsOf(expression).map((overload) => callable(overload));
    // A namespace such as `optional` is not a value, so it is not evaluated.
    const receiver = overloads[0]?.isMember === true ? this.step(target!) : undefined;
    const given = (frame: Frame): Value[] => {
      const values = args.map((arg) => arg(frame));
      if (receiver !== undefined) values.unshift(receiver(frame));
      return values;
    };
    if (expression.appendsInPosition === true)
      return (frame) => {
        const [list, added] = given(frame) as [ArrayListValue, ArrayListValue];
        frame.budget.spend(1);
        list.items.push(...added.items);
        return list;
      };
    if (receiver === undefined && args.length === 2) return binary(overloads, first!, second!);
    return (frame) => {
      const values = given(frame);
      const overload = overloads.find(({ parameters }) => parameters.every((fits, index) => fits(values[index]!)));
      if (overload === undefined) throw new EvaluationProblem("no such overload");
      frame.budget.spend(
        overload.isConstant ? 1 : overload.cost(values.map((value) => new SizedValue(value))).cost.max,
      );
      return overload.call(...values);
    };
  }

  #loop(loop: Comprehension): Step {
    const range = this.step(loop.range);
    const start = this.step(loop.start);
    const accumulator = this.#declare(loop.accumulator);
    const variable = this.#declare(loop.variable);
    const second = loop.second === undefined ? undefined : this.#declare(loop.second);
    const condition = this.step(loop.condition);
    const next = this.step(loop.step);
    for (const name of [loop.variable, loop.second]) if (name !== undefined) this.#slots.get(name)!.pop();
    const result = this.step(loop.result);
    this.#slots.get(loop.accumulator)!.pop();
    // Only quantifiers continue after an error. Their condition is not a literal.
    const stopsAtFailure = loop.condition.kind === "literal";

    const iterate = (frame: Frame): boolean => {
      if (condition(frame) !== true) return false;
      const accumulated = evaluateCatching(next, frame);
      frame.slots[accumulator] = accumulated;
      if (stopsAtFailure && accumulated instanceof Failure) throw accumulated.problem;
      return true;
    };
    return (frame) => {
      const { slots } = frame;
      const collection = range(frame);
      slots[accumulator] = start(frame);
      if (collection instanceof ListValue) {
        for (let index = 0; index < collection.size; index++) {
          const item = collection.at(index);
          slots[variable] = second === undefined ? item : BigInt(index);
          if (second !== undefined) slots[second] = item;
          if (!iterate(frame)) break;
        }
      } else if (collection instanceof MapValue) {
        for (const key of collection.keys()) {
          slots[variable] = key;
          if (second !== undefined) slots[second] = collection.get(key)!;
          if (!iterate(frame)) break;
        }
      } else throw new EvaluationProblem(`got '${typeNameOf(collection)}', expected iterable type`);
      return result(frame);
    };
  }

  #declare(name: string): number {
    const slots = this.#slots.get(name);
    if (slots === undefined) this.#slots.set(name, [this.#nextSlot]);
    else slots.push(this.#nextSlot);
    return this.#nextSlot++;
  }
}

/** An overload whose parameter types are compiled to predicates. */
interface Callable extends Omit<Overload, "parameters"> {
  readonly parameters: readonly ((value: Value) => boolean)[];
  /** Whether the cost is 1 for all arguments. */
  readonly isConstant: boolean;
}

function callable(overload: Overload): Callable {
  return {
    ...overload,
    parameters: overload.parameters.map(typePredicate),
    isConstant: overload.cost === constantCost,
  };
}

/** Evaluates a call with two arguments. A separate path, because most calls are operators. */
function binary(overloads: readonly Callable[], left: Step, right: Step): Step {
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    for (const overload of overloads) {
      if (!overload.parameters[0]!(a) || !overload.parameters[1]!(b)) continue;
      frame.budget.spend(overload.isConstant ? 1 : overload.cost([new SizedValue(a), new SizedValue(b)]).cost.max);
      return overload.call(a, b);
    }
    throw new EvaluationProblem("no such overload");
  };
}

/**
 * Evaluates `&&` and `||`. An operand with the decisive value decides the result, even when the other operand has an
 * error.
 */
function logicalOperator(left: Step, right: Step, decisive: boolean): Step {
  return (frame) => {
    const first = evaluateCatching(left, frame);
    if (first === decisive) return decisive;
    const second = evaluateCatching(right, frame);
    if (second === decisive) return decisive;
    for (const side of [first, second]) {
      if (side instanceof Failure) throw side.problem;
      if (typeof side !== "boolean") throw new EvaluationProblem("no such overload");
    }
    return !decisive;
  };
}

function evaluateCatching(step: Step, frame: Frame): Value | Failure {
  try {
    return step(frame);
  } catch (error) {
    if (error instanceof EvaluationProblem) return new Failure(error);
    throw error;
  }
}

function memberOf(container: Value, field: string): Value | undefined {
  if (container instanceof MapValue) return container.get(field);
  throw new EvaluationProblem(`no such overload: ${typeNameOf(container)}.${field}`);
}

/** The properties of a value that a cost depends on, computed only when a cost model reads them. */
class SizedValue implements Sized {
  readonly #value: Value;

  constructor(value: Value) {
    this.#value = value;
  }

  get type(): Type {
    return typeOfValue(this.#value);
  }

  get size(): Range {
    return exactly(sizeOfValue(this.#value));
  }

  get item(): Sized | undefined {
    const value = this.#value;
    return value instanceof ListValue && value.size > 0 ? new SizedValue(value.at(0)) : undefined;
  }

  get constant(): number | undefined {
    const value = this.#value;
    if (typeof value === "bigint") return Number(value);
    return value instanceof UnsignedInteger ? Number(value.value) : undefined;
  }
}

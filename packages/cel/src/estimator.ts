import type { CheckedExpression } from "./checker.js";
import {
  LIST_COST,
  MAP_COST,
  ONE,
  type Range,
  type Sized,
  UNBOUNDED,
  ZERO,
  exactly,
  plus,
  times,
  union,
} from "./cost.js";
import type { DeclaredType } from "./declared-type.js";
import type { Call, Comprehension, Expression } from "./syntax.js";
import { type Type, typeName } from "./types.js";

/**
 * Estimates the minimum and maximum cost of an expression for any values of its variables. Upstream: cel-go
 * `checker/cost.go`.
 *
 * @param variables - The declared types, which bound the values.
 */
export function estimate(checked: CheckedExpression, variables: ReadonlyMap<string, DeclaredType>): Range {
  return new Estimator(checked, variables).cost(checked.expression);
}

/** The declared type of the schema node that a value comes from; `undefined` for values that come from no variable. */
type Origin = DeclaredType | undefined;

class Estimator {
  readonly #checked: CheckedExpression;
  readonly #variables: ReadonlyMap<string, DeclaredType>;
  readonly #scopes: Map<string, { origin: Origin; size: Range | undefined }>[] = [];
  readonly #origins = new Map<Expression, Origin>();
  readonly #sizes = new Map<Expression, Range>();

  constructor(checked: CheckedExpression, variables: ReadonlyMap<string, DeclaredType>) {
    this.#checked = checked;
    this.#variables = variables;
  }

  cost(expression: Expression): Range {
    switch (expression.kind) {
      case "literal":
        return ZERO;
      case "identifier": {
        const local = this.#lookUpLocal(expression.name);
        // Upstream resolves a name without a path, including type names, to the root.
        const root = this.#variables.get(expression.name) ?? this.#variables.values().next().value;
        this.#origins.set(expression, local === undefined ? root : local.origin);
        if (local?.size !== undefined) this.#sizes.set(expression, local.size);
        return ONE;
      }
      case "select": {
        const sum = this.cost(expression.operand);
        if (expression.test) return sum;
        const { kind } = this.#checked.typeOf(expression.operand);
        this.#origins.set(expression, memberOrigin(this.#origins.get(expression.operand), expression.field));
        return kind === "map" || kind === "object" ? plus(sum, ONE) : sum;
      }
      case "call":
        return this.#call(expression);
      case "list":
        return expression.items.reduce((sum, item) => plus(sum, this.cost(item)), exactly(LIST_COST));
      case "map":
        return expression.entries.reduce(
          (sum, [key, value]) => plus(sum, plus(this.cost(key), this.cost(value))),
          exactly(MAP_COST),
        );
      case "comprehension":
        return this.#loop(expression);
      default:
        return expression satisfies never;
    }
  }

  #lookUpLocal(name: string): { origin: Origin; size: Range | undefined } | undefined {
    for (let index = this.#scopes.length - 1; index >= 0; index--) {
      const found = this.#scopes[index]!.get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #call(call: Call): Range {
    const costs = call.args.map((arg) => this.cost(arg));
    const all = costs.reduce(plus, ZERO);
    switch (call.name) {
      case "_&&_":
      case "_||_":
        return { min: costs[0]!.min, max: all.max };
      case "_?_:_":
        this.#sizes.set(call, union(this.#size(call.args[1]!), this.#size(call.args[2]!)));
        return plus(costs[0]!, union(costs[1]!, costs[2]!));
      default:
    }
    const overloads = this.#checked.overloadsOf(call);
    const isMember = overloads[0]?.isMember === true;
    const target = isMember ? this.cost(call.target!) : ZERO;
    const given = isMember ? [call.target!, ...call.args] : call.args;
    if (call.name === "_[_]") this.#origins.set(call, this.#origins.get(call.args[0]!)?.item);
    const args = given.map((arg) => this.#sized(arg));
    let cost: Range | undefined;
    let size: Range | undefined;
    for (const overload of overloads) {
      const callCost = overload.cost(args);
      cost = cost === undefined ? callCost.cost : union(cost, callCost.cost);
      if (callCost.size !== undefined) size = size === undefined ? callCost.size : union(size, callCost.size);
    }
    if (size !== undefined) this.#sizes.set(call, size);
    return plus(plus(target, all), cost ?? ZERO);
  }

  #loop(loop: Comprehension): Range {
    let sum = plus(this.cost(loop.range), this.cost(loop.start));
    const origin = this.#origins.get(loop.range);
    const rangeType = this.#checked.typeOf(loop.range);
    this.#scopes.push(
      new Map([[loop.accumulator, { origin: this.#origins.get(loop.start), size: this.#sizes.get(loop.start) }]]),
    );
    const names = new Map<string, { origin: Origin; size: Range | undefined }>();
    const item = { origin: origin?.item, size: undefined };
    const key = { origin: rangeType.kind === "map" ? origin && KEY : undefined, size: undefined };
    if (loop.second === undefined) names.set(loop.variable, rangeType.kind === "map" ? key : item);
    else names.set(loop.variable, key).set(loop.second, item);
    this.#scopes.push(names);
    const step = plus(this.cost(loop.condition), this.cost(loop.step));
    this.#scopes.pop();
    sum = plus(sum, this.cost(loop.result));
    this.#scopes.pop();
    const count = this.#size(loop.range);
    if (loop.start.kind === "list" || loop.start.kind === "map") this.#sizes.set(loop, count);
    return plus(sum, times(count, step));
  }

  #sized(expression: Expression): Sized {
    const type = this.#checked.typeOf(expression);
    const item = this.#origins.get(expression)?.item;
    return {
      type,
      size: this.#size(expression),
      item:
        type.kind !== "list"
          ? undefined
          : { type: type.item, size: item === undefined ? unknownSize(type.item) : { min: 0, max: item.max } },
      constant:
        expression.kind === "literal" && typeof expression.value === "bigint" ? Number(expression.value) : undefined,
    };
  }

  #size(expression: Expression): Range {
    const known = this.#sizes.get(expression);
    if (known !== undefined) return known;
    switch (expression.kind) {
      case "literal": {
        const { value } = expression;
        return exactly(
          typeof value === "string" ? Array.from(value).length : value instanceof Uint8Array ? value.length : 1,
        );
      }
      case "list":
        return exactly(expression.items.length);
      case "map":
        return exactly(expression.entries.length);
      default: {
        const origin = this.#origins.get(expression);
        return origin === undefined ? unknownSize(this.#checked.typeOf(expression)) : { min: 0, max: origin.max };
      }
    }
  }
}

/** Upstream: map keys are strings without a declared length, which counts as 0. */
const KEY: DeclaredType = { type: { kind: "string" }, max: 0, minBytes: 2 };

const SCALARS: ReadonlySet<Type["kind"]> = new Set<Type["kind"]>([
  "bool",
  "double",
  "duration",
  "int",
  "timestamp",
  "uint",
]);

/** Upstream treats these types as scalars for equality, including values that were parsed from strings. */
const SCALAR_OPAQUES: ReadonlySet<string> = new Set([
  "net.IP",
  "net.CIDR",
  "kubernetes.Quantity",
  "kubernetes.Semver",
  "kubernetes.URL",
]);

function unknownSize(type: Type): Range {
  return SCALARS.has(type.kind) || SCALAR_OPAQUES.has(typeName(type)) ? ONE : UNBOUNDED;
}

function memberOrigin(origin: Origin, field: string): Origin {
  return origin?.fields === undefined ? origin?.item : origin.fields.get(field);
}

import type { Call, Comprehension, Expression } from "./syntax.js";
import type { FunctionTable, Overload } from "./functions.js";
import {
  BOOL,
  DYN,
  ERROR,
  INT,
  NAMED_TYPES,
  type Type,
  innerTypes,
  isOptional,
  isSameOutside,
  isSameType,
  listOf,
  mapInnerTypes,
  mapOf,
  optionalOf,
  parameter,
  typeName,
  typeOf,
} from "./types.js";
import { typeOfValue } from "./values.js";

/** One type error and its offset in the source. */
export interface CheckProblem {
  readonly at: number;
  readonly message: string;
}

/** The result of a type check, for each subexpression. */
export interface CheckedExpression {
  readonly expression: Expression;
  readonly type: Type;
  typeOf(expression: Expression): Type;
  /** The overloads that match a call by type. The evaluation picks one of them by value. */
  overloadsOf(call: Expression): readonly Overload[];
  /**
   * The type that a subexpression names, such as `google.protobuf.Timestamp`; `undefined` when the subexpression is not
   * a type name.
   */
  namedType(expression: Expression): Type | undefined;
}

/**
 * Finds the type of each subexpression, or the type errors in source order.
 *
 * Upstream: cel-go `checker/checker.go`, with homogeneous literals.
 */
export function check(
  expression: Expression,
  variables: ReadonlyMap<string, Type>,
  functions: FunctionTable,
): { readonly checked: CheckedExpression } | { readonly problems: readonly CheckProblem[] } {
  const checker = new Checker(variables, functions);
  checker.check(expression);
  if (checker.problems.length > 0) return { problems: checker.problems.sort((a, b) => a.at - b.at) };
  return {
    checked: {
      expression,
      type: checker.finalType(expression),
      typeOf: (piece) => checker.finalType(piece),
      overloadsOf: (piece) => checker.overloads.get(piece) ?? [],
      namedType: (piece) => checker.named.get(piece),
    },
  };
}

/** The kinds of types that the literal `null` may be used for. */
const NULLABLE: ReadonlySet<Type["kind"]> = new Set<Type["kind"]>([
  "null",
  "object",
  "opaque",
  "timestamp",
  "duration",
]);

class Checker {
  readonly problems: CheckProblem[] = [];
  readonly overloads = new Map<Expression, readonly Overload[]>();
  readonly named = new Map<Expression, Type>();
  readonly #types = new Map<Expression, Type>();
  readonly #scopes: ReadonlyMap<string, Type>[];
  readonly #functions: FunctionTable;
  /** Lists that may have items of different types: the arguments of `format`. */
  readonly #mixed = new Set<Expression>();
  /** The types that type parameters are bound to so far. */
  #bindings = new Map<string, Type>();
  #nextParameter = 0;

  constructor(variables: ReadonlyMap<string, Type>, functions: FunctionTable) {
    this.#scopes = [variables];
    this.#functions = functions;
  }

  finalType(expression: Expression): Type {
    return this.#substitute(this.#types.get(expression) ?? DYN, true);
  }

  check(expression: Expression): Type {
    const type = this.#typeOf(expression);
    this.#types.set(expression, type);
    return type;
  }

  #typeOf(expression: Expression): Type {
    switch (expression.kind) {
      case "literal":
        return typeOfValue(expression.value);
      case "identifier": {
        const type = this.#lookUp(expression.name);
        if (type !== undefined) return type;
        const named = NAMED_TYPES.get(expression.name);
        if (named !== undefined) {
          this.named.set(expression, named);
          return typeOf(named);
        }
        this.#undeclared(expression.name, expression.at);
        return ERROR;
      }
      case "select": {
        const qualified = expression.test ? undefined : qualifiedName(expression);
        if (qualified !== undefined && this.#lookUp(qualified.slice(0, qualified.indexOf("."))) === undefined) {
          const named = NAMED_TYPES.get(qualified);
          if (named !== undefined) {
            this.named.set(expression, named);
            return typeOf(named);
          }
        }
        const operand = this.#substitute(this.check(expression.operand), false);
        const type = this.#member(operand, expression.field, false, expression.at);
        return expression.test ? BOOL : type;
      }
      case "call":
        return this.#call(expression);
      case "list":
        return listOf(this.#join(expression.items, this.#mixed.has(expression)) ?? this.#newParameter());
      case "map": {
        const key = this.#join(expression.entries.map(([each]) => each));
        const value = this.#join(expression.entries.map(([, each]) => each));
        return mapOf(key ?? this.#newParameter(), value ?? this.#newParameter());
      }
      case "comprehension":
        return this.#comprehension(expression);
      default:
        return expression satisfies never;
    }
  }

  #lookUp(name: string): Type | undefined {
    for (let index = this.#scopes.length - 1; index >= 0; index--) {
      const type = this.#scopes[index]!.get(name);
      if (type !== undefined) return type;
    }
    return undefined;
  }

  #problem(message: string, at: number): void {
    this.problems.push({ message, at });
  }

  #undeclared(name: string, at: number): void {
    this.#problem(`undeclared reference to '${name}' (in container '')`, at);
  }

  #newParameter(): Type {
    return parameter(`_var${this.#nextParameter++}`);
  }

  #member(operand: Type, field: string, isOptionalAccess: boolean, at: number): Type {
    const target = isOptional(operand) ? operand.parameters[0]! : operand;
    let result: Type = ERROR;
    switch (target.kind) {
      case "error":
        return ERROR;
      case "map":
        result = target.value;
        break;
      case "object": {
        const type = target.fields.get(field);
        if (type === undefined) this.#problem(`undefined field '${field}'`, at);
        else result = type;
        break;
      }
      case "parameter":
        this.#isAssignable(DYN, target);
        result = DYN;
        break;
      case "dyn":
        result = DYN;
        break;
      default:
        this.#problem(`type '${typeName(target)}' does not support field selection`, at);
        result = DYN;
    }
    return isOptional(operand) || isOptionalAccess ? optionalOf(result) : result;
  }

  #call(call: Call): Type {
    if (call.name === "_?._") {
      const operand = this.#substitute(this.check(call.args[0]!), false);
      const field = call.args[1]! as Extract<Expression, { kind: "literal" }>;
      this.check(field);
      this.overloads.set(call, this.#functions.get("_?._") ?? []);
      return this.#member(operand, field.value as string, true, call.at);
    }
    if (call.name === "format" && call.target !== undefined) for (const arg of call.args) this.#mixed.add(arg);
    const args = call.args.map((arg) => this.check(arg));
    if (call.target === undefined) return this.#resolve(call, call.name, undefined, args);
    const qualified = qualifiedName(call.target);
    if (qualified !== undefined && this.#functions.has(`${qualified}.${call.name}`))
      return this.#resolve(call, `${qualified}.${call.name}`, undefined, args);
    const target = this.check(call.target);
    return this.#resolve(call, call.name, target, args);
  }

  #resolve(call: Call, name: string, target: Type | undefined, args: readonly Type[]): Type {
    const overloads = this.#functions.get(name);
    if (overloads === undefined) {
      this.#undeclared(name, call.at);
      return ERROR;
    }
    const given = target === undefined ? args : [target, ...args];
    const matching: Overload[] = [];
    let result: Type | undefined;
    for (const overload of overloads) {
      if (overload.isMember !== (target !== undefined) || overload.parameters.length !== given.length) continue;
      const renamed = new Map<string, Type>();
      const parameters = overload.parameters.map((type) => this.#rename(type, renamed));
      const saved = new Map(this.#bindings);
      if (!parameters.every((type, index) => this.#isAssignable(given[index]!, type))) {
        this.#bindings = saved;
        continue;
      }
      matching.push(overload);
      const answer = this.#substitute(this.#rename(overload.result, renamed), false);
      if (result === undefined) result = answer;
      else if (!isSameType(result, answer) && result.kind !== "dyn") result = DYN;
    }
    if (result === undefined) {
      const shown = args.map((type) => this.#nameOf(type)).join(", ");
      const receiver = target === undefined ? "" : `${this.#nameOf(target)}.`;
      this.#problem(`found no matching overload for '${name}' applied to '${receiver}(${shown})'`, call.at);
      return ERROR;
    }
    this.overloads.set(call, matching);
    return result;
  }

  /** Gives the type parameters of a function new names, so that each call binds them separately. */
  #rename(type: Type, renamed: Map<string, Type>): Type {
    if (type.kind !== "parameter") return mapInnerTypes(type, (inner) => this.#rename(inner, renamed));
    let fresh = renamed.get(type.name);
    if (fresh === undefined) renamed.set(type.name, (fresh = this.#newParameter()));
    return fresh;
  }

  /**
   * Returns the common type of the items and reports items of a different type; `undefined` when there are no items.
   */
  #join(items: readonly Expression[], isMixed = false): Type | undefined {
    let joined: Type | undefined;
    for (const item of items) {
      const type = this.check(item);
      if (joined === undefined) joined = type;
      else if (this.#isAssignable(type, joined)) {
        if (joined.kind !== "dyn" && type.kind === "dyn") joined = DYN;
      } else if (isMixed) joined = DYN;
      else {
        this.#unexpected(type, joined, item.at);
        joined = ERROR;
      }
    }
    return joined;
  }

  #comprehension(loop: Comprehension): Type {
    const range = this.#substitute(this.check(loop.range), false);
    const accumulator = this.check(loop.start);
    let variable: Type;
    let second: Type = ERROR;
    switch (range.kind) {
      case "list":
        variable = range.item;
        if (loop.second !== undefined) [variable, second] = [INT, range.item];
        break;
      case "map":
        variable = range.key;
        second = range.value;
        break;
      case "dyn":
      case "error":
      case "parameter":
        this.#isAssignable(DYN, range);
        variable = DYN;
        second = DYN;
        break;
      default:
        this.#problem(
          `expression of type '${typeName(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
          loop.range.at,
        );
        variable = ERROR;
    }
    this.#scopes.push(new Map([[loop.accumulator, accumulator]]));
    const names = new Map([[loop.variable, variable]]);
    if (loop.second !== undefined) names.set(loop.second, second);
    this.#scopes.push(names);
    this.#expect(loop.condition, BOOL);
    this.#expect(loop.step, accumulator);
    this.#scopes.pop();
    const result = this.check(loop.result);
    this.#scopes.pop();
    return this.#substitute(result, false);
  }

  #expect(expression: Expression, type: Type): void {
    const found = this.check(expression);
    if (!this.#isAssignable(found, type)) this.#unexpected(found, type, expression.at);
  }

  #unexpected(found: Type, expected: Type, at: number): void {
    this.#problem(`expected type '${this.#nameOf(expected)}' but found '${this.#nameOf(found)}'`, at);
  }

  #nameOf(type: Type): string {
    return typeName(this.#substitute(type, true));
  }

  #substitute(type: Type, isFinal: boolean): Type {
    if (type.kind !== "parameter") return mapInnerTypes(type, (inner) => this.#substitute(inner, isFinal));
    const bound = this.#bindings.get(type.name);
    if (bound !== undefined) return this.#substitute(bound, isFinal);
    return isFinal ? DYN : type;
  }

  /**
   * Whether a value of the actual type may be used where the expected type is required. A failed attempt leaves the
   * bindings unchanged. Upstream: `internalIsAssignable`.
   */
  #isAssignable(given: Type, expected: Type): boolean {
    const saved = new Map(this.#bindings);
    if (this.#assign(given, expected)) return true;
    this.#bindings = saved;
    return false;
  }

  #assign(from: Type, to: Type): boolean {
    const given = this.#resolved(from);
    const expected = this.#resolved(to);
    // A parameter that is bound to a type is rebound to `dyn`, the more general type.
    if (to.kind === "parameter" && given.kind === "dyn" && expected.kind !== "parameter")
      return this.#bind(to.name, DYN);
    if (given.kind === "parameter" && expected.kind === "parameter" && given.name === expected.name) return true;
    if (expected.kind === "parameter") return this.#bind(expected.name, given);
    if (given.kind === "parameter") return this.#bind(given.name, expected);
    if (isDynOrError(given) || isDynOrError(expected)) return true;
    if (given.kind === "null") return NULLABLE.has(expected.kind);
    const others = innerTypes(expected);
    return (
      isSameOutside(given, expected) && innerTypes(given).every((each, index) => this.#assign(each, others[index]!))
    );
  }

  #resolved(type: Type): Type {
    let found = type;
    while (found.kind === "parameter") {
      const bound = this.#bindings.get(found.name);
      if (bound === undefined) return found;
      found = bound;
    }
    return found;
  }

  #bind(name: string, type: Type): boolean {
    if (this.#mentions(type, name)) return false;
    this.#bindings.set(name, type);
    return true;
  }

  #mentions(type: Type, name: string): boolean {
    const found = this.#resolved(type);
    if (found.kind === "parameter") return found.name === name;
    return innerTypes(found).some((each) => this.#mentions(each, name));
  }
}

function isDynOrError({ kind }: Type): boolean {
  return kind === "dyn" || kind === "error";
}

/** Returns `a.b.c` for a selection on identifiers only; otherwise `undefined`. */
export function qualifiedName(expression: Expression): string | undefined {
  if (expression.kind === "identifier") return expression.name;
  if (expression.kind !== "select" || expression.test) return undefined;
  const operand = qualifiedName(expression.operand);
  return operand === undefined ? undefined : `${operand}.${expression.field}`;
}

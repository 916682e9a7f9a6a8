import { Environment, ParseError } from "@marcbachmann/cel-js";

/** A subexpression after macro expansion. `at` is the offset in the source. Upstream: cel-go `common/ast`. */
export type Expression =
  | { readonly kind: "literal"; readonly at: number; readonly value: Literal }
  | { readonly kind: "identifier"; readonly at: number; readonly name: string }
  | {
      readonly kind: "select";
      readonly at: number;
      readonly operand: Expression;
      readonly field: string;
      /** `has(…)`: tests whether the field is present. */
      readonly test: boolean;
    }
  | Call
  | { readonly kind: "list"; readonly at: number; readonly items: readonly Expression[] }
  | { readonly kind: "map"; readonly at: number; readonly entries: readonly (readonly [Expression, Expression])[] }
  | Comprehension;

export interface Call {
  readonly kind: "call";
  readonly at: number;
  readonly name: string;
  readonly target: Expression | undefined;
  readonly args: readonly Expression[];
  /**
   * Set by macro expansion: the first argument is a list that no other expression can observe, so the call may append
   * to it in place.
   */
  readonly appendsInPosition?: boolean;
}

export interface Comprehension {
  readonly kind: "comprehension";
  readonly at: number;
  readonly range: Expression;
  /** The item, or with {@link second} its key or index. */
  readonly variable: string;
  readonly second: string | undefined;
  readonly accumulator: string;
  readonly start: Expression;
  /** The loop continues while this condition is true. */
  readonly condition: Expression;
  readonly step: Expression;
  readonly result: Expression;
}

/** An unsigned integer, as in the literal `1u`. */
export class UnsignedInteger {
  constructor(readonly value: bigint) {}
}

export type Literal = null | boolean | bigint | UnsignedInteger | number | string | Uint8Array;

/** A syntax error and its offset in the source. */
export class SyntaxProblem extends Error {
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message);
  }
}

/** A node of the library's syntax tree, which the library's types leave open. */
interface ParsedNode {
  readonly op: string;
  readonly args: unknown;
  readonly pos: number;
  readonly start: number;
  readonly end: number;
}

/** The parser's limits for nodes and depth. Upstream: cel-go `parser.maxRecursionDepth`. */
const LIMITS = {
  maxAstNodes: 100_000,
  maxDepth: 250,
  maxListElements: 10_000,
  maxMapEntries: 10_000,
  maxCallArguments: 32,
};

/** Upstream: cel-go `parser.expressionSizeCodePointLimit`. */
const MAX_CODE_POINTS = 100_000;
const TOO_DEEP = `expression recursion limit exceeded: ${LIMITS.maxDepth}`;

const MAX_INT = 2n ** 63n;
/** The maximum number of nodes after macro expansion. */
const MAX_NODES = 20_000;

/**
 * Parses expressions and expands macros. The library knows only the syntax, so the meaning of names is resolved here.
 */
export class Parser {
  readonly #environment = new Environment({
    unlistedVariablesAreDyn: true,
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
    limits: LIMITS,
  });

  readonly #hasMacros: boolean;

  /** @param options - Whether `has`, `all` and the other macros are expanded. Default true. */
  constructor({ macros = true }: { readonly macros?: boolean } = {}) {
    this.#hasMacros = macros;
  }

  /** @throws SyntaxProblem */
  parse(source: string): Expression {
    const size = Array.from(source).length;
    if (size > MAX_CODE_POINTS)
      throw new SyntaxProblem(`expression code point size exceeds limit: size: ${size}, limit ${MAX_CODE_POINTS}`, 0);
    let parsed: unknown;
    try {
      parsed = this.#environment.parse(source).ast;
    } catch (error) {
      // The library has no limit for chains of operators without parentheses, and overflows the stack.
      if (error instanceof RangeError) throw new SyntaxProblem(TOO_DEEP, 0);
      if (!(error instanceof ParseError)) throw error;
      throw new SyntaxProblem(`Syntax error: ${error.summary}`, error.range?.start ?? 0);
    }
    return new Reader(source, this.#hasMacros).read(parsed as ParsedNode);
  }
}

const BINARY: Readonly<Record<string, string>> = {
  "!=": "_!=_",
  "==": "_==_",
  in: "@in",
  "+": "_+_",
  "-": "_-_",
  "*": "_*_",
  "/": "_/_",
  "%": "_%_",
  "<": "_<_",
  "<=": "_<=_",
  ">": "_>_",
  ">=": "_>=_",
  "&&": "_&&_",
  "||": "_||_",
};

const ACCUMULATOR = "@result";

class Reader {
  readonly #source: string;
  readonly #hasMacros: boolean;
  #nodes = 0;
  #depth = 0;

  constructor(source: string, hasMacros: boolean) {
    this.#source = source;
    this.#hasMacros = hasMacros;
  }

  read(node: ParsedNode): Expression {
    if (++this.#depth > LIMITS.maxDepth) throw new SyntaxProblem(TOO_DEEP, node.pos);
    const expression = this.#read(node);
    this.#depth--;
    return expression;
  }

  #read(node: ParsedNode): Expression {
    const { op, pos: at } = node;
    // A macro repeats its receiver, and macros can be nested, so the expanded expression can be much larger than the
    // source.
    if (++this.#nodes > MAX_NODES) throw new SyntaxProblem("expression is too large", at);
    const args = node.args as ParsedNode[];
    switch (op) {
      case "value":
        return { kind: "literal", at, value: literalOf(node.args, at) };
      case "id":
        return { kind: "identifier", at, name: node.args as string };
      case ".": {
        const [operand, field] = node.args as [ParsedNode, string];
        return {
          kind: "select",
          at: this.#lastBefore(".", at),
          operand: this.read(operand),
          field,
          test: false,
        };
      }
      case ".?": {
        const [operand, field] = node.args as [ParsedNode, string];
        const position = this.#lastBefore(".", at);
        return call("_?._", position, [this.read(operand), { kind: "literal", at, value: field }]);
      }
      case "[]":
      case "[?]": {
        const position = this.#firstAfter("[", args[0]!.end, at);
        return call(op === "[]" ? "_[_]" : "_[?_]", position, [this.read(args[0]!), this.read(args[1]!)]);
      }
      case "call": {
        const [name, parameters] = node.args as [string, ParsedNode[]];
        const position = this.#firstAfter("(", node.start + name.length, at);
        return this.#macro(name, undefined, parameters, position) ?? call(name, position, this.#all(parameters));
      }
      case "rcall": {
        const [name, receiver, parameters] = node.args as [string, ParsedNode, ParsedNode[]];
        const position = this.#firstAfter("(", this.#firstAfter(".", receiver.end, at) + name.length, at);
        return (
          this.#macro(name, receiver, parameters, position) ??
          call(name, position, this.#all(parameters), this.read(receiver))
        );
      }
      case "list":
        return { kind: "list", at, items: this.#all(args) };
      case "map":
        return {
          kind: "map",
          at,
          entries: (node.args as [ParsedNode, ParsedNode][]).map(([key, value]) => [this.read(key), this.read(value)]),
        };
      case "?:":
        return call("_?_:_", this.#firstAfter("?", args[0]!.end, at), this.#all(args));
      case "!_":
      case "-_":
        return this.#unary(node, at);
      case "&&":
      case "||":
        return this.#balanced(op, this.#operands(node));
      default: {
        const name = BINARY[op];
        if (name === undefined) throw new SyntaxProblem(`Syntax error: unsupported operator '${op}'`, at);
        return call(name, this.#firstAfter(op, args[0]!.end, at), this.#all(args));
      }
    }
  }

  #all(nodes: readonly ParsedNode[]): Expression[] {
    return nodes.map((node) => this.read(node));
  }

  /** An even number of equal operators in a row has no effect. Upstream: cel-go `parser.go` VisitNegate. */
  #unary(node: ParsedNode, at: number): Expression {
    let [operand, isOdd] = [node.args as ParsedNode, true];
    for (; operand.op === node.op; operand = operand.args as ParsedNode) isOdd = !isOdd;
    if (!isOdd) return this.read(operand);
    return node.op === "!_" ? call("!_", at, [this.read(operand)]) : this.#negation(operand, at);
  }

  /** The operands of a chain of equal logical operators, which the library nests to the left. */
  #operands(node: ParsedNode): { readonly operand: ParsedNode; readonly at: number }[] {
    const operands: { operand: ParsedNode; at: number }[] = [];
    let rest = node;
    for (; rest.op === node.op; rest = (rest.args as ParsedNode[])[0]!) {
      const [left, right] = rest.args as [ParsedNode, ParsedNode];
      operands.push({ operand: right, at: this.#firstAfter(node.op, left.end, rest.pos) });
    }
    operands.push({ operand: rest, at: rest.pos });
    return operands.reverse();
  }

  /** A balanced tree of a chain, so that it is not deep. Upstream: cel-go `parser/helper.go` balancer. */
  #balanced(op: "&&" | "||", operands: readonly { operand: ParsedNode; at: number }[]): Expression {
    if (operands.length === 1) return this.read(operands[0]!.operand);
    const middle = Math.ceil(operands.length / 2);
    const sides = [operands.slice(0, middle), operands.slice(middle)];
    return call(
      BINARY[op]!,
      operands[middle]!.at,
      sides.map((side) => this.#balanced(op, side)),
    );
  }

  #negation(operand: ParsedNode, at: number): Expression {
    const value: unknown = operand.op === "value" ? operand.args : undefined;
    if (typeof value === "bigint" && value <= MAX_INT) return { kind: "literal", at, value: -value };
    if (typeof value === "number") return { kind: "literal", at, value: -value };
    return call("-_", at, [this.read(operand)]);
  }

  /** Finds the offset of an operator, which the library does not provide. */
  #firstAfter(text: string, from: number, fallback: number): number {
    const found = this.#source.indexOf(text, from);
    return found < 0 ? fallback : found;
  }

  #lastBefore(text: string, from: number): number {
    const found = this.#source.lastIndexOf(text, from);
    return found < 0 ? from : found;
  }

  /**
   * Expands a call of a macro; `undefined` for other calls. Upstream: cel-go `parser/macro.go`, `ext/comprehensions.go`
   * and `cel/library.go` for optionals.
   */
  #macro(name: string, receiver: ParsedNode | undefined, args: ParsedNode[], at: number): Expression | undefined {
    if (!this.#hasMacros) return undefined;
    if (receiver === undefined) return name === "has" && args.length === 1 ? this.#has(args[0]!) : undefined;
    switch (name) {
      case "all":
      case "exists":
      case "exists_one":
      case "existsOne":
        if (args.length === 2 || args.length === 3) return this.#quantifier(name, receiver, args, at);
        return undefined;
      case "filter":
        if (args.length !== 2) return undefined;
        return this.#listComprehension(receiver, [args[0]!], args[1], args[0]!, at);
      case "map":
      case "transformList": {
        const variables = name === "map" ? 1 : 2;
        const [filter, ...more] = args.slice(variables, -1);
        if (args.length <= variables || more.length > 0) return undefined;
        return this.#listComprehension(receiver, args.slice(0, variables), filter, args.at(-1)!, at);
      }
      case "transformMap":
      case "transformMapEntry":
        if (args.length !== 3 && args.length !== 4) return undefined;
        return this.#transformMap(receiver, args, name === "transformMapEntry", at);
      case "optMap":
      case "optFlatMap":
        return args.length === 2 ? this.#optional(name, receiver, args, at) : undefined;
      default:
        return undefined;
    }
  }

  #has(argument: ParsedNode): Expression {
    const read = this.read(argument);
    if (read.kind !== "select") throw new SyntaxProblem("invalid argument to has() macro", argument.pos);
    return { ...read, test: true };
  }

  #variable(node: ParsedNode, at: number): string {
    if (node.op !== "id") throw new SyntaxProblem("argument must be a simple name", node.pos);
    const name = node.args as string;
    if (name === ACCUMULATOR) throw new SyntaxProblem("iteration variable overwrites accumulator variable", at);
    return name;
  }

  #loop(
    receiver: ParsedNode,
    variable: string,
    second: string | undefined,
    at: number,
    parts: { start: Expression; condition?: Expression; step: Expression; result?: Expression },
  ): Comprehension {
    return {
      kind: "comprehension",
      at,
      range: this.read(receiver),
      variable,
      second,
      accumulator: ACCUMULATOR,
      start: parts.start,
      condition: parts.condition ?? literal(true, at),
      step: parts.step,
      result: parts.result ?? accumulatorReference(at),
    };
  }

  #variables(nodes: readonly ParsedNode[], at: number): [string, string | undefined] {
    const [first, second] = nodes.map((node) => this.#variable(node, at));
    if (first === second) throw new SyntaxProblem(`duplicate iteration variable name: ${first}`, at);
    return [first!, second];
  }

  #quantifier(name: string, receiver: ParsedNode, args: ParsedNode[], at: number): Expression {
    const [variable, second] = this.#variables(args.slice(0, -1), at);
    const predicate = this.read(args.at(-1)!);
    const accu = accumulatorReference(at);
    const notStrictlyFalse = (condition: Expression): Expression => call("@not_strictly_false", at, [condition]);
    switch (name) {
      case "all":
        return this.#loop(receiver, variable, second, at, {
          start: literal(true, at),
          condition: notStrictlyFalse(accu),
          step: call("_&&_", at, [accu, predicate]),
        });
      case "exists":
        return this.#loop(receiver, variable, second, at, {
          start: literal(false, at),
          condition: notStrictlyFalse(call("!_", at, [accu])),
          step: call("_||_", at, [accu, predicate]),
        });
      default:
        return this.#loop(receiver, variable, second, at, {
          start: literal(0n, at),
          step: call("_?_:_", at, [predicate, call("_+_", at, [accu, literal(1n, at)]), accu]),
          result: call("_==_", at, [accu, literal(1n, at)]),
        });
    }
  }

  #listComprehension(
    receiver: ParsedNode,
    variables: readonly ParsedNode[],
    filter: ParsedNode | undefined,
    transform: ParsedNode,
    at: number,
  ): Expression {
    const [variable, second] = this.#variables(variables, at);
    const step = append(this.read(transform), at);
    return this.#loop(receiver, variable, second, at, {
      start: { kind: "list", at, items: [] },
      step: filter === undefined ? step : call("_?_:_", at, [this.read(filter), step, accumulatorReference(at)]),
    });
  }

  #transformMap(receiver: ParsedNode, args: ParsedNode[], entry: boolean, at: number): Expression {
    const [variable, second] = this.#variables(args.slice(0, 2), at);
    const transformed = this.read(args.at(-1)!);
    const inserted: Expression[] = entry ? [transformed] : [{ kind: "identifier", at, name: variable }, transformed];
    const step = call("cel.@mapInsert", at, [accumulatorReference(at), ...inserted]);
    return this.#loop(receiver, variable, second, at, {
      start: { kind: "map", at, entries: [] },
      step: args.length === 3 ? step : call("_?_:_", at, [this.read(args[2]!), step, accumulatorReference(at)]),
    });
  }

  #optional(name: string, receiver: ParsedNode, args: ParsedNode[], at: number): Expression {
    const variable = this.#variable(args[0]!, at);
    const bound: Comprehension = {
      kind: "comprehension",
      at,
      range: { kind: "list", at, items: [] },
      variable: "#unused",
      second: undefined,
      accumulator: variable,
      start: call("value", at, [], this.read(receiver)),
      condition: literal(false, at),
      step: { kind: "identifier", at, name: variable },
      result: this.read(args[1]!),
    };
    return call("_?_:_", at, [
      call("hasValue", at, [], this.read(receiver)),
      name === "optMap" ? call("optional.of", at, [bound]) : bound,
      call("optional.none", at, []),
    ]);
  }
}

function call(name: string, at: number, args: readonly Expression[], target?: Expression): Call {
  return { kind: "call", at, name, target, args };
}

function literal(value: Literal, at: number): Expression {
  return { kind: "literal", at, value };
}

function accumulatorReference(at: number): Expression {
  return { kind: "identifier", at, name: ACCUMULATOR };
}

function append(item: Expression, at: number): Expression {
  const list: Expression = { kind: "list", at, items: [item] };
  return { ...call("_+_", at, [accumulatorReference(at), list]), appendsInPosition: true };
}

function literalOf(value: unknown, at: number): Literal {
  if (typeof value === "bigint") {
    if (value >= MAX_INT) throw new SyntaxProblem("invalid int literal", at);
    return value;
  }
  if (typeof value === "object" && value !== null && !(value instanceof Uint8Array))
    return new UnsignedInteger((value as { valueOf(): bigint }).valueOf());
  return value as Literal;
}

import {
  HASH_END,
  type Hash64,
  type ShardKey,
  type ShardRange,
  type ShardSelector,
  compareHashes,
  formatHash,
} from "@kubewright/api";
import { type Expression, type Literal, Parser, SyntaxProblem, UnsignedInteger } from "@kubewright/cel";

import { plainError } from "./api-error.js";

const KEYS: readonly ShardKey[] = ["object.metadata.uid", "object.metadata.namespace"];
/** cel-go's limit of code points. */
const MAX_CODE_POINTS = 100_000;
const DIGITS = 16;

/** Numbers of expression kinds in upstream's messages. Upstream: cel-go `common/ast`. */
const EXPRESSION_KINDS: Readonly<Record<Expression["kind"], number>> = {
  call: 1,
  comprehension: 2,
  identifier: 3,
  list: 4,
  literal: 5,
  map: 6,
  select: 7,
};

/**
 * Parses a `shardSelector` parameter: calls of `shardRange(KEY, 'START', 'END')` joined by `||`. It has the syntax of a
 * CEL expression, but is not evaluated: the receiver of a call is ignored.
 *
 * @throws ApiError 500 without a reason, as upstream does only for this selector.
 * @see kubernetes v1.36, KEP-5866
 */
export function parseShardSelector(text: string): ShardSelector {
  const ranges: (ShardRange & { readonly key: ShardKey })[] = [];
  for (const call of callsOf(parse(text))) {
    const range = readRange(call);
    const first = ranges[0]?.key ?? range.key;
    if (range.key !== first)
      throw invalid(`all shard ranges must use the same field, got ${quoted(first)} and ${quoted(range.key)}`);
    ranges.push(range);
  }
  return { key: ranges[0]!.key, ranges: ranges.map(({ start, end }) => ({ start, end })) };
}

function parse(text: string): Expression {
  if (text.trim() === "") throw invalid("empty shard selector is not allowed; omit the parameter for unfiltered lists");
  const size = Array.from(text).length;
  if (size > MAX_CODE_POINTS)
    throw invalid(`CEL parse error: expression code point size exceeds limit: size: ${size}, limit ${MAX_CODE_POINTS}`);
  try {
    return new Parser({ macros: false }).parse(text);
  } catch (error) {
    if (error instanceof SyntaxProblem) throw invalid(`CEL parse error: ${syntaxMessage(error.message)}`);
    throw error;
  }
}

/** Translates messages of this parser that differ from upstream's. */
function syntaxMessage(message: string): string {
  return message.replace("Expected RPAREN, got EOF", "missing ')' at '<EOF>'");
}

function* callsOf(expression: Expression): Generator<Extract<Expression, { kind: "call" }>> {
  if (expression.kind !== "call")
    throw invalid(
      `unexpected expression kind ${EXPRESSION_KINDS[expression.kind]}; expected shardRange() call or || operator`,
    );
  if (expression.name === "_||_") for (const arg of expression.args) yield* callsOf(arg);
  else if (expression.name === "shardRange") yield expression;
  else throw invalid(`unsupported function ${quoted(expression.name)}; only shardRange() and || are allowed`);
}

function readRange({ args }: Extract<Expression, { kind: "call" }>): ShardRange & { readonly key: ShardKey } {
  const [field, first, last] = args;
  if (args.length !== 3) throw invalid(`shardRange() requires exactly 3 arguments, got ${args.length}`);
  const path = fieldPath(field!);
  const key = KEYS.find((known) => known === path);
  if (key === undefined) throw invalid(`unsupported field path ${quoted(path)}; supported: ${KEYS.join(", ")}`);
  const start = readBound("hexStart", first!);
  const end = readBound("hexEnd", last!);
  if (compareHashes(start, end) >= 0)
    throw invalid(`shard range start ${formatHash(start)} must be less than end ${formatHash(end)}`);
  return { key, start, end };
}

function fieldPath(expression: Expression): string {
  if (expression.kind === "identifier") return expression.name;
  if (expression.kind === "select") return `${fieldPath(expression.operand)}.${expression.field}`;
  throw invalid(
    `shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind ${EXPRESSION_KINDS[expression.kind]}`,
  );
}

function readBound(name: "hexStart" | "hexEnd", argument: Expression): Hash64 {
  if (argument.kind !== "literal")
    throw invalid(
      `${name} must be a string literal (e.g. '0xff'), got expression kind ${EXPRESSION_KINDS[argument.kind]}`,
    );
  const { value } = argument;
  if (typeof value !== "string") throw invalid(`${name} must be a string literal, got ${goType(value)}`);
  if (!value.startsWith("0x")) throw invalid(`${name} must have '0x' prefix, got ${quoted(value)}`);
  const digits = value.slice(2);
  if (digits === "") throw invalid(`${name}: hex value is required after '0x'`);
  if (digits.length > DIGITS + 1)
    throw invalid(`${name}: hex value too long (${digits.length} chars, max ${DIGITS + 1}): ${quoted(digits)}`);
  const strange = Array.from(digits).find((digit) => !/^[0-9a-f]$/.test(digit));
  if (strange !== undefined) throw invalid(`${name}: invalid hex character ${quoted(strange)} in ${quoted(value)}`);
  if (value === formatHash(HASH_END)) return HASH_END;
  if (digits.length > DIGITS)
    throw invalid(`${name}: 17-digit hex value must be '${formatHash(HASH_END)}' (2^64), got ${quoted(value)}`);
  if (digits.length < DIGITS)
    throw invalid(
      `${name} must be a 0x-prefixed 16-digit hex value, got ${quoted(value)} (did you mean ${quoted(`0x${digits.padStart(DIGITS, "0")}`)}?)`,
    );
  return { high: Number.parseInt(digits.slice(0, 8), 16), low: Number.parseInt(digits.slice(8), 16) };
}

function goType(value: Exclude<Literal, string>): string {
  if (typeof value === "bigint") return "int64";
  if (typeof value === "number") return "float64";
  if (typeof value === "boolean") return "bool";
  if (value instanceof UnsignedInteger) return "uint64";
  return value === null ? "structpb.NullValue" : "[]uint8";
}

function invalid(message: string): Error {
  return plainError(`invalid shard selector: ${message}`);
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

import { tryParseGoDuration } from "@kubewright/cron";

import {
  type CostModel,
  comparisonCost,
  containsCost,
  fromBytesCost,
  listConcatenationCost,
  concatenationCost,
  linearCost,
  matchCost,
  toBytesCost,
  traversalCost,
} from "./cost.js";
import { type FunctionLibrary, type Handler, type Overload, global, member } from "./functions.js";
import type { Regexes } from "./regexes.js";
import { UnsignedInteger } from "./syntax.js";
import {
  TIMESTAMP_PARTS,
  formatDouble,
  formatDuration,
  formatTimestamp,
  parseTimestamp,
  timestampPart,
  type TimeZones,
} from "./time.js";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  STRING,
  TIMESTAMP,
  type Type,
  UINT,
  listOf,
  mapOf,
  optionalOf,
  parameter,
  typeOf,
} from "./types.js";
import type { MutableMapValue } from "./values.js";
import {
  Duration,
  EvaluationProblem,
  ArrayListValue,
  ListValue,
  MapValue,
  Optional,
  Timestamp,
  TypeValue,
  type Value,
  compare,
  equal,
  keyText,
  typeNameOf,
  typeOfValue,
} from "./values.js";

const A = parameter("A");
const B = parameter("B");
const LIST_A = listOf(A);
const MAP_AB = mapOf(A, B);
const OPTIONAL_A = optionalOf(A);

const MAX_INT = 2n ** 63n - 1n;
const MIN_INT = -(2n ** 63n);
const MAX_UINT = 2n ** 64n - 1n;

function int(value: bigint): bigint {
  if (value > MAX_INT || value < MIN_INT) throw new EvaluationProblem("integer overflow");
  return value;
}

function uint(value: bigint): UnsignedInteger {
  if (value > MAX_UINT || value < 0n) throw new EvaluationProblem("unsigned integer overflow");
  return new UnsignedInteger(value);
}

/**
 * Creates a duration within the range of int64 nanoseconds. The timestamps below are limited to the years 1 to 9999.
 */
function duration(nanos: bigint): Duration {
  if (nanos > MAX_INT || nanos < MIN_INT) throw new EvaluationProblem("duration overflow");
  return new Duration(nanos);
}

const FIRST_INSTANT = -62_135_596_800n * 1_000_000_000n;
const LAST_INSTANT = 253_402_300_800n * 1_000_000_000n;

function timestamp(nanos: bigint): Timestamp {
  if (nanos >= LAST_INSTANT || nanos < FIRST_INSTANT) throw new EvaluationProblem("timestamp overflow");
  return new Timestamp(nanos);
}

function nonZeroDivisor(value: bigint, operation: string): bigint {
  if (value === 0n) throw new EvaluationProblem(`${operation} by zero`);
  return value;
}

/** An operator with two operands and a result of the same type. */
function sameTypeOperator(type: Type, call: Handler, cost?: CostModel): Overload {
  return global([type, type], type, call, cost);
}

const uintOperator = (call: (a: bigint, b: bigint) => bigint): Overload =>
  sameTypeOperator(UINT, (a: UnsignedInteger, b: UnsignedInteger) => uint(call(a.value, b.value)));

const ORDERED: readonly Type[] = [BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION];
const NUMBERS: readonly Type[] = [INT, UINT, DOUBLE];

function comparisonOperators(holds: (order: number) => boolean): Overload[] {
  const call = (a: Value, b: Value): boolean => holds(compare(a, b)!);
  const overload = (a: Type, b: Type): Overload =>
    global([a, b], BOOL, call, a === STRING || a === BYTES ? comparisonCost : undefined);
  return ORDERED.map((type) => overload(type, type)).concat(
    NUMBERS.flatMap((a) => NUMBERS.filter((b) => b !== a).map((b) => overload(a, b))),
  );
}

function conversionProblem(value: Value, to: string): EvaluationProblem {
  return new EvaluationProblem(`type conversion error from '${typeNameOf(value)}' to '${to}'`);
}

function intOf(value: number): bigint {
  if (!Number.isFinite(value) || value >= 2 ** 63 || value <= -(2 ** 63))
    throw new EvaluationProblem("integer overflow");
  return BigInt(Math.trunc(value));
}

function uintOf(value: number): UnsignedInteger {
  if (!Number.isFinite(value) || value < 0 || value >= 2 ** 64)
    throw new EvaluationProblem("unsigned integer overflow");
  return new UnsignedInteger(BigInt(Math.trunc(value)));
}

function parseInteger(text: string): bigint {
  if (!/^[+-]?\d+$/.test(text) || text.length > 400) throw conversionProblem(text, "int");
  const value = BigInt(text);
  if (value > MAX_INT || value < MIN_INT) throw conversionProblem(text, "int");
  return value;
}

function parseUnsigned(text: string): UnsignedInteger {
  if (!/^\d+$/.test(text) || text.length > 400 || BigInt(text) > MAX_UINT) throw conversionProblem(text, "uint");
  return new UnsignedInteger(BigInt(text));
}

function parseDouble(text: string): number {
  if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) {
    const value = Number(text);
    if (Number.isFinite(value)) return value;
  }
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (special === null) throw conversionProblem(text, "double");
  if (special[2]!.toLowerCase() === "nan") return NaN;
  return special[1] === "-" ? -Infinity : Infinity;
}

const TRUE_TEXTS = ["1", "t", "T", "true", "TRUE", "True"];
const FALSE_TEXTS = ["0", "f", "F", "false", "FALSE", "False"];

function parseBool(text: string): boolean {
  if (TRUE_TEXTS.includes(text)) return true;
  if (FALSE_TEXTS.includes(text)) return false;
  throw conversionProblem(text, "bool");
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new EvaluationProblem("invalid UTF-8 in bytes, cannot convert to string");
  }
}

export function codePointCount(text: string): number {
  // V8 tests most strings quickly for surrogates, because it stores them with one byte per character.
  if (!/[\ud800-\udbff]/.test(text)) return text.length;
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff) index++;
    count++;
  }
  return count;
}

function itemAt(list: ListValue, index: Value): Value {
  const position =
    typeof index === "bigint"
      ? Number(index)
      : index instanceof UnsignedInteger
        ? Number(index.value)
        : typeof index === "number" && Number.isInteger(index)
          ? index
          : undefined;
  if (position === undefined) throw new EvaluationProblem(`unsupported index type '${typeNameOf(index)}' in list`);
  if (position < 0 || position >= list.size) throw new EvaluationProblem(`index out of bounds: ${position}`);
  return list.at(position);
}

function entryAt(map: MapValue, key: Value): Value {
  const found = map.get(key);
  if (found === undefined) throw new EvaluationProblem(`no such key: ${keyText(key)}`);
  return found;
}

/** Returns the item or value at the key in a list, map or optional; an empty optional when absent. */
function optionalLookup(container: Value, key: Value): Optional {
  const value = container instanceof Optional ? container.value : container;
  if (value === undefined) return new Optional(undefined);
  if (value instanceof MapValue) return new Optional(value.get(key));
  if (value instanceof ListValue) {
    const position = typeof key === "bigint" ? Number(key) : typeof key === "number" ? key : -1;
    return new Optional(
      Number.isInteger(position) && position >= 0 && position < value.size ? value.at(position) : undefined,
    );
  }
  throw new EvaluationProblem("no such overload");
}

function insertEntry(entries: MutableMapValue, key: Value, value: Value): MutableMapValue {
  if (!entries.add(key, value)) throw new EvaluationProblem(`insert failed: key ${keyText(key)} already exists`);
  return entries;
}

const sizes: readonly (readonly [Type, Handler])[] = [
  [STRING, (text: string) => BigInt(codePointCount(text))],
  [BYTES, (bytes: Uint8Array) => BigInt(bytes.length)],
  [LIST_A, (list: ListValue) => BigInt(list.size)],
  [MAP_AB, (map: MapValue) => BigInt(map.size)],
];

/** The whole duration in the given unit, truncated. */
const DURATION_PARTS: Readonly<Record<string, (nanos: bigint) => bigint>> = {
  getHours: (nanos) => nanos / 3_600_000_000_000n,
  getMinutes: (nanos) => nanos / 60_000_000_000n,
  getSeconds: (nanos) => nanos / 1_000_000_000n,
  getMilliseconds: (nanos) => nanos / 1_000_000n,
};

function dateFunctions(zones: TimeZones): FunctionLibrary {
  return Object.fromEntries(
    TIMESTAMP_PARTS.map((part) => [
      part,
      [
        member([TIMESTAMP], INT, (at: Timestamp) => timestampPart(at, part, (utc) => utc)),
        member([TIMESTAMP, STRING], INT, (at: Timestamp, zone: string) =>
          timestampPart(at, part, (utc) => zones.local(utc, zone)),
        ),
        ...(DURATION_PARTS[part] === undefined
          ? []
          : [member([DURATION], INT, ({ nanos }: Duration) => DURATION_PARTS[part]!(nanos))]),
      ],
    ]),
  );
}

/** Upstream: cel-go `common/stdlib` and `cel/library.go` for optionals. */
export function standardFunctions(regexes: Regexes, zones: TimeZones): FunctionLibrary {
  const matches: Handler = (text: string, pattern: string) => regexes.test(pattern, text);
  return {
    // The evaluator implements these lazy operators itself. The entries declare their types for the checker.
    "_&&_": [global([BOOL, BOOL], BOOL, unreachable)],
    "_||_": [global([BOOL, BOOL], BOOL, unreachable)],
    "_?_:_": [global([BOOL, A, A], A, unreachable)],
    "@not_strictly_false": [global([BOOL], BOOL, unreachable)],
    "!_": [global([BOOL], BOOL, (value: boolean) => !value)],
    "_==_": [global([A, A], BOOL, (a: Value, b: Value) => equal(a, b), comparisonCost)],
    "_!=_": [global([A, A], BOOL, (a: Value, b: Value) => !equal(a, b), comparisonCost)],
    "_<_": comparisonOperators((order) => order < 0),
    "_<=_": comparisonOperators((order) => order <= 0),
    "_>_": comparisonOperators((order) => order > 0),
    "_>=_": comparisonOperators((order) => order >= 0),
    "_+_": [
      sameTypeOperator(BYTES, (a: Uint8Array, b: Uint8Array) => Uint8Array.of(...a, ...b), concatenationCost),
      sameTypeOperator(DOUBLE, (a: number, b: number) => a + b),
      sameTypeOperator(DURATION, (a: Duration, b: Duration) => duration(a.nanos + b.nanos)),
      global([DURATION, TIMESTAMP], TIMESTAMP, (a: Duration, b: Timestamp) => timestamp(a.nanos + b.nanos)),
      global([TIMESTAMP, DURATION], TIMESTAMP, (a: Timestamp, b: Duration) => timestamp(a.nanos + b.nanos)),
      sameTypeOperator(INT, (a: bigint, b: bigint) => int(a + b)),
      sameTypeOperator(LIST_A, (a: ListValue, b: ListValue) => a.plus(b), listConcatenationCost),
      sameTypeOperator(STRING, (a: string, b: string) => a + b, concatenationCost),
      uintOperator((a, b) => a + b),
    ],
    "_-_": [
      sameTypeOperator(DOUBLE, (a: number, b: number) => a - b),
      sameTypeOperator(DURATION, (a: Duration, b: Duration) => duration(a.nanos - b.nanos)),
      sameTypeOperator(INT, (a: bigint, b: bigint) => int(a - b)),
      global([TIMESTAMP, DURATION], TIMESTAMP, (a: Timestamp, b: Duration) => timestamp(a.nanos - b.nanos)),
      global([TIMESTAMP, TIMESTAMP], DURATION, (a: Timestamp, b: Timestamp) => duration(a.nanos - b.nanos)),
      uintOperator((a, b) => a - b),
    ],
    "_*_": [
      sameTypeOperator(DOUBLE, (a: number, b: number) => a * b),
      sameTypeOperator(INT, (a: bigint, b: bigint) => int(a * b)),
      uintOperator((a, b) => a * b),
    ],
    "_/_": [
      sameTypeOperator(DOUBLE, (a: number, b: number) => a / b),
      sameTypeOperator(INT, (a: bigint, b: bigint) => int(a / nonZeroDivisor(b, "division"))),
      uintOperator((a, b) => a / nonZeroDivisor(b, "division")),
    ],
    "_%_": [
      sameTypeOperator(INT, (a: bigint, b: bigint) => a % nonZeroDivisor(b, "modulus")),
      uintOperator((a, b) => a % nonZeroDivisor(b, "modulus")),
    ],
    "-_": [global([DOUBLE], DOUBLE, (a: number) => -a), global([INT], INT, (a: bigint) => int(-a))],
    "@in": [
      global([A, LIST_A], BOOL, (item: Value, list: ListValue) => list.contains(item), linearCost(1)),
      global([A, MAP_AB], BOOL, (key: Value, map: MapValue) => isKey(key) && map.get(key) !== undefined),
    ],
    "_[_]": [
      global([LIST_A, INT], A, itemAt),
      global([MAP_AB, A], B, entryAt),
      global([optionalOf(LIST_A), INT], OPTIONAL_A, optionalLookup),
      global([optionalOf(MAP_AB), A], optionalOf(B), optionalLookup),
    ],
    "_[?_]": [
      global([LIST_A, INT], OPTIONAL_A, optionalLookup),
      global([optionalOf(LIST_A), INT], OPTIONAL_A, optionalLookup),
      global([MAP_AB, A], optionalOf(B), optionalLookup),
      global([optionalOf(MAP_AB), A], optionalOf(B), optionalLookup),
    ],
    "_?._": [global([DYN, STRING], optionalOf(DYN), optionalLookup)],
    "cel.@mapInsert": [
      global([MAP_AB, A, B], MAP_AB, insertEntry),
      global([MAP_AB, MAP_AB], MAP_AB, (into: MutableMapValue, from: MapValue) => {
        for (const key of from.keys()) insertEntry(into, key, from.get(key)!);
        return into;
      }),
    ],
    size: sizes.flatMap(([type, call]) => [global([type], INT, call), member([type], INT, call)]),
    contains: [member([STRING, STRING], BOOL, (text: string, part: string) => text.includes(part), containsCost)],
    endsWith: [member([STRING, STRING], BOOL, (text: string, end: string) => text.endsWith(end), traversalCost(1))],
    startsWith: [
      member([STRING, STRING], BOOL, (text: string, start: string) => text.startsWith(start), traversalCost(1)),
    ],
    matches: [member([STRING, STRING], BOOL, matches, matchCost), global([STRING, STRING], BOOL, matches, matchCost)],
    bool: [global([BOOL], BOOL, same), global([STRING], BOOL, parseBool)],
    bytes: [
      global([BYTES], BYTES, same),
      global([STRING], BYTES, (text: string) => new TextEncoder().encode(text), toBytesCost),
    ],
    double: [
      global([DOUBLE], DOUBLE, same),
      global([INT], DOUBLE, (value: bigint) => Number(value)),
      global([STRING], DOUBLE, parseDouble),
      global([UINT], DOUBLE, ({ value }: UnsignedInteger) => Number(value)),
    ],
    duration: [
      global([DURATION], DURATION, same),
      global([INT], DURATION, (nanos: bigint) => new Duration(nanos)),
      global([STRING], DURATION, (text: string) => {
        const nanos = tryParseGoDuration(text);
        if (nanos === undefined) throw conversionProblem(text, "google.protobuf.Duration");
        return duration(nanos);
      }),
    ],
    dyn: [global([A], DYN, same)],
    int: [
      global([INT], INT, same),
      global([DOUBLE], INT, intOf),
      global([DURATION], INT, ({ nanos }: Duration) => nanos),
      global([STRING], INT, parseInteger),
      global([TIMESTAMP], INT, ({ nanos }: Timestamp) => floorDivide(nanos, 1_000_000_000n)),
      global([UINT], INT, ({ value }: UnsignedInteger) => int(value)),
    ],
    string: [
      global([STRING], STRING, same),
      global([BOOL], STRING, String),
      global([BYTES], STRING, decodeUtf8, fromBytesCost),
      global([DOUBLE], STRING, formatDouble),
      global([DURATION], STRING, ({ nanos }: Duration) => formatDuration(nanos)),
      global([INT], STRING, String),
      global([TIMESTAMP], STRING, formatTimestamp),
      global([UINT], STRING, ({ value }: UnsignedInteger) => String(value)),
    ],
    timestamp: [
      global([TIMESTAMP], TIMESTAMP, same),
      global([INT], TIMESTAMP, (seconds: bigint) => timestamp(seconds * 1_000_000_000n)),
      global([STRING], TIMESTAMP, (text: string) => {
        const nanos = parseTimestamp(text);
        if (nanos === undefined) throw conversionProblem(text, "google.protobuf.Timestamp");
        return timestamp(nanos);
      }),
    ],
    type: [global([A], typeOf(A), (value: Value) => new TypeValue(typeOfValue(value)))],
    uint: [
      global([UINT], UINT, same),
      global([DOUBLE], UINT, uintOf),
      global([INT], UINT, (value: bigint) => uint(value)),
      global([STRING], UINT, parseUnsigned),
    ],
    ...dateFunctions(zones),
    "optional.of": [global([A], OPTIONAL_A, (value: Value) => new Optional(value))],
    "optional.ofNonZeroValue": [
      global([A], OPTIONAL_A, (value: Value) => new Optional(isZero(value) ? undefined : value)),
    ],
    "optional.none": [global([], OPTIONAL_A, () => new Optional(undefined))],
    value: [
      member([OPTIONAL_A], A, ({ value }: Optional) => {
        if (value === undefined) throw new EvaluationProblem("optional.none() dereference");
        return value;
      }),
    ],
    hasValue: [member([OPTIONAL_A], BOOL, ({ value }: Optional) => value !== undefined)],
    or: [member([OPTIONAL_A, OPTIONAL_A], OPTIONAL_A, unreachable)],
    orValue: [member([OPTIONAL_A, A], A, unreachable)],
    "optional.unwrap": [global([listOf(OPTIONAL_A)], LIST_A, unwrap)],
    unwrapOpt: [member([listOf(OPTIONAL_A)], LIST_A, unwrap)],
  };
}

const same: Handler = (value: Value) => value;

const unreachable: Handler = () => {
  throw new EvaluationProblem("no such overload");
};

function unwrap(list: ListValue): ListValue {
  return new ArrayListValue(
    [...list.all()].flatMap((each) => (each instanceof Optional && each.value !== undefined ? [each.value] : [])),
  );
}

function isKey(value: Value): boolean {
  return (
    typeof value === "string" ||
    typeof value === "bigint" ||
    typeof value === "number" ||
    typeof value === "boolean" ||
    value instanceof UnsignedInteger
  );
}

function isZero(value: Value): boolean {
  if (value instanceof UnsignedInteger) return value.value === 0n;
  if (value instanceof ListValue || value instanceof MapValue) return value.size === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Duration) return value.nanos === 0n;
  return value === null || value === false || value === 0n || value === 0 || value === "";
}

function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b < 0n ? quotient - 1n : quotient;
}

import { type CostModel, findCost, formatCost, replaceCost, splitCost, traversalCost } from "./cost.js";
import { type FunctionLibrary, type Handler, type Overload, member } from "./functions.js";
import type { Regexes } from "./regexes.js";
import { UnsignedInteger } from "./syntax.js";
import { formatDouble, formatDuration, formatTimestamp } from "./time.js";
import { DYN, INT, STRING, type Type, listOf, typeName } from "./types.js";
import {
  Duration,
  EvaluationProblem,
  ArrayListValue,
  ListValue,
  MapValue,
  Timestamp,
  TypeValue,
  type Value,
  checkLength,
  typeNameOf,
} from "./values.js";

/** Whether each character is one code unit, so that indexes need no conversion. */
function hasNoSurrogates(text: string): boolean {
  return !/[\ud800-\udfff]/.test(text);
}

function characters(text: string): readonly string[] | string {
  return hasNoSurrogates(text) ? text : Array.from(text);
}

function slice(text: string, start: number, end?: number): string {
  return hasNoSurrogates(text) ? text.slice(start, end) : Array.from(text).slice(start, end).join("");
}

/** Converts an index in code units to an index in code points. Negative indexes stay. */
function codePointIndex(text: string, index: number): bigint {
  return index <= 0 || hasNoSurrogates(text) ? BigInt(index) : BigInt(Array.from(text.slice(0, index)).length);
}

function codeUnitIndex(text: string, index: number): number {
  return hasNoSurrogates(text) ? index : Array.from(text).slice(0, index).join("").length;
}

function checkedIndex(text: string, offset: bigint): number {
  if (offset < 0n || offset > BigInt(characters(text).length))
    throw new EvaluationProblem(`index out of range: ${offset}`);
  return Number(offset);
}

function substring(text: string, start: bigint, end?: bigint): string {
  if (end !== undefined && start > end)
    throw new EvaluationProblem(`invalid substring range. start: ${start}, end: ${end}`);
  return slice(text, checkedIndex(text, start), end === undefined ? undefined : checkedIndex(text, end));
}

/** Finds a part of a text, with or without the index to search from. */
function search(indexOf: (text: string, part: string, from?: number) => number): Overload[] {
  const call = (text: string, part: string, offset?: bigint): bigint => {
    if (offset === undefined) return codePointIndex(text, indexOf(text, part));
    return part === ""
      ? offset
      : codePointIndex(text, indexOf(text, part, codeUnitIndex(text, checkedIndex(text, offset))));
  };
  return withOptionalInt([STRING, STRING], INT, call, READ_COST);
}

/** Two member functions, one of them with an integer as a further argument. */
function withOptionalInt(parameters: readonly Type[], result: Type, call: Handler, cost: CostModel): Overload[] {
  return [parameters, [...parameters, INT]].map((all) => member(all, result, call, cost));
}

function split(text: string, separator: string, max = -1n): ArrayListValue {
  if (max === 0n) return new ArrayListValue([]);
  const parts = separator === "" ? Array.from(text) : text.split(separator);
  if (max < 0n || BigInt(parts.length) <= max) return new ArrayListValue(parts);
  const count = Number(max);
  return new ArrayListValue([...parts.slice(0, count - 1), parts.slice(count - 1).join(separator)]);
}

/** Replaces the first `max` occurrences, or all when `max` is negative. Upstream: Go's `strings.Replace`. */
function replace(text: string, old: string, replacement: string, max = -1n): string {
  const occurrences = old === "" ? text.length + 1 : text.split(old).length - 1;
  checkLength(text.length + occurrences * replacement.length);
  if (max < 0n) {
    return old === "" ? replaceEmptyMatches(text, replacement, Infinity) : text.split(old).join(replacement);
  }
  if (old === "") return replaceEmptyMatches(text, replacement, Number(max));
  const parts = text.split(old);
  let result = parts[0]!;
  for (let index = 1; index < parts.length; index++)
    result += (BigInt(index) <= max ? replacement : old) + parts[index]!;
  return result;
}

function replaceEmptyMatches(text: string, replacement: string, max: number): string {
  let remaining = max;
  let result = "";
  for (const character of text) result += remaining-- > 0 ? replacement + character : character;
  return remaining > 0 ? result + replacement : result;
}

/** Converts ASCII letters only. */
function lower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function upper(text: string): string {
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/** White space as Go defines it. */
const SPACE = "[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";

function trim(text: string): string {
  return text.replace(new RegExp(`^${SPACE}`), "").replace(new RegExp(`${SPACE}$`), "");
}

const READ_COST = traversalCost(0);
const COPY_COST = traversalCost(0, true);

/** Upstream: cel-go `ext/strings.go`, version 2, and apiserver's `cel/library/regex.go`. */
export function textFunctions(regexes: Regexes): FunctionLibrary {
  const find = (text: string, pattern: string): string => regexes.findAll(pattern, text, 1)[0] ?? "";
  const findAll = (text: string, pattern: string, max = -1n): ArrayListValue =>
    new ArrayListValue(regexes.findAll(pattern, text, max < 0n ? Infinity : Number(max)));
  return {
    charAt: [
      member([STRING, INT], STRING, (text: string, offset: bigint) => {
        const at = checkedIndex(text, offset);
        return slice(text, at, at + 1);
      }),
    ],
    indexOf: search((text, part, from) => text.indexOf(part, from)),
    lastIndexOf: search((text, part, from) => text.lastIndexOf(part, from)),
    lowerAscii: [member([STRING], STRING, lower, COPY_COST)],
    upperAscii: [member([STRING], STRING, upper, COPY_COST)],
    trim: [member([STRING], STRING, trim, COPY_COST)],
    substring: withOptionalInt([STRING, INT], STRING, substring, COPY_COST),
    replace: withOptionalInt([STRING, STRING, STRING], STRING, replace, replaceCost),
    reverse: [member([STRING], STRING, (text: string) => Array.from(text).reverse().join(""), COPY_COST)],
    split: withOptionalInt([STRING, STRING], listOf(STRING), split, splitCost),
    format: [member([STRING, listOf(DYN)], STRING, format, formatCost)],
    find: [member([STRING, STRING], STRING, find, findCost)],
    findAll: withOptionalInt([STRING, STRING], listOf(STRING), findAll, findCost),
  };
}

/** The maximum number of characters that `format` may produce. */
const MAX_FORMATTED_CHARACTERS = 3 * 1024 * 1024;

/** Upstream: cel-go `ext/formatting.go`. */
function format(template: string, args: ListValue): string {
  let next = 0;
  let result = "";
  const verbs = /%(%|(?:\.(\d{1,4}))?([a-zA-Z]))|%/g;
  let end = 0;
  for (const match of template.matchAll(verbs)) {
    result += template.slice(end, match.index);
    end = match.index + match[0].length;
    if (match[1] === "%") {
      result += "%";
      continue;
    }
    const verb = match[3];
    if (verb === undefined) throw new EvaluationProblem("unexpected end of string");
    if (next >= args.size) throw new EvaluationProblem(`index ${next} out of range`);
    result += formatOne(verb, args.at(next++), match[2] === undefined ? undefined : Number(match[2]));
    if (result.length > MAX_FORMATTED_CHARACTERS) throw new EvaluationProblem("formatted text is too long");
  }
  return result + template.slice(end);
}

function formatOne(verb: string, value: Value, precision: number | undefined): string {
  switch (verb) {
    case "s":
      return formatString(value);
    case "d":
      if (typeof value === "bigint" || value instanceof UnsignedInteger) return formatString(value);
      if (typeof value === "number") return formatDouble(value);
      throw formattingProblem("decimal clause can only be used on numbers, was given", value);
    case "f":
    case "e": {
      const number = numberOf(value);
      if (number === undefined)
        throw formattingProblem(
          `${verb === "f" ? "fixed-point" : "scientific"} clause can only be used on doubles, was given`,
          value,
        );
      if (!Number.isFinite(number)) return Number.isNaN(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
      if (verb === "f") return number.toFixed(precision ?? 6);
      return number.toExponential(precision ?? 6).replace(/e([+-])(\d)$/, "e$10$2");
    }
    case "b":
      if (typeof value === "boolean") return value ? "1" : "0";
      return formatInteger(value, 2, "only integers and bools can be formatted as binary, was given");
    case "x":
    case "X": {
      const text =
        typeof value === "string"
          ? hex(new TextEncoder().encode(value))
          : value instanceof Uint8Array
            ? hex(value)
            : formatInteger(value, 16, "only integers, byte buffers, and strings can be formatted as hex, was given");
      return verb === "X" ? text.toUpperCase() : text;
    }
    case "o":
      return formatInteger(value, 8, "octal clause can only be used on integers, was given");
    default:
      throw new EvaluationProblem(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
}

function formattingProblem(detail: string, value: Value): EvaluationProblem {
  return new EvaluationProblem(`error during formatting: ${detail} ${typeNameOf(value)}`);
}

function numberOf(value: Value): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (value instanceof UnsignedInteger) return Number(value.value);
  if (value === "NaN") return NaN;
  if (value === "Infinity") return Infinity;
  return value === "-Infinity" ? -Infinity : undefined;
}

function formatInteger(value: Value, base: number, detail: string): string {
  if (typeof value === "bigint") return value.toString(base);
  if (value instanceof UnsignedInteger) return value.value.toString(base);
  throw formattingProblem(detail, value);
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function formatString(value: Value): string {
  if (value === null) return "null";
  if (typeof value === "string") return value;
  if (typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (typeof value === "number") {
    if (Number.isFinite(value)) return formatDouble(value);
    return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  }
  if (value instanceof UnsignedInteger) return String(value.value);
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value.nanos);
  if (value instanceof TypeValue) return typeName(value.type);
  if (value instanceof ListValue) return `[${[...value.all()].map(formatString).join(", ")}]`;
  if (value instanceof MapValue) {
    const entries = [...value.keys()].map((key) => `${formatString(key)}: ${formatString(value.get(key)!)}`);
    return `{${entries.sort().join(", ")}}`;
  }
  throw new EvaluationProblem(
    `error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ${typeNameOf(value)}`,
  );
}

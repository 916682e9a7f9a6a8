import { UnsignedInteger } from "./syntax.js";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  NULL,
  STRING,
  TIMESTAMP,
  type Type,
  UINT,
  isSameType,
  listOf,
  mapOf,
  opaque,
  optionalOf,
  typeName,
  typeOf,
} from "./types.js";

/** A CEL value during an evaluation. */
export type Value =
  | null
  | boolean
  | bigint
  | UnsignedInteger
  | number
  | string
  | Uint8Array
  | Timestamp
  | Duration
  | ListValue
  | MapValue
  | Optional
  | TypeValue
  | OpaqueValue;

/** The reason why an expression has no value, with upstream's message. */
export class EvaluationProblem extends Error {
  constructor(message: string) {
    // A loop may throw one for each item, and capturing the stack would take ten times as long as everything else.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Nanoseconds since 1970, in UTC. */
export class Timestamp {
  constructor(readonly nanos: bigint) {}
}

/** A length of time in nanoseconds. */
export class Duration {
  constructor(readonly nanos: bigint) {}
}

/** A type as a value: the result of `type(x)`. */
export class TypeValue {
  constructor(readonly type: Type) {}
}

/** An optional value; absent when `undefined`. */
export class Optional {
  constructor(readonly value: Value | undefined) {}
}

/** A value of an opaque type, which only functions create and read. */
export class OpaqueValue<T = unknown> {
  readonly #isSame: (a: never, b: never) => boolean;

  /**
   * @param opaqueType - The name of the type.
   * @param isSame - Compares the contents of two values of this type. Default: they must be identical.
   */
  constructor(
    readonly opaqueType: string,
    readonly content: T,
    isSame: (a: T, b: T) => boolean = Object.is,
  ) {
    this.#isSame = isSame;
  }

  equals(other: OpaqueValue): boolean {
    return this.opaqueType === other.opaqueType && this.#isSame(this.content as never, other.content as never);
  }
}

export abstract class ListValue {
  abstract readonly size: number;
  abstract at(index: number): Value;

  equals(other: ListValue): boolean {
    if (this.size !== other.size) return false;
    for (let index = 0; index < this.size; index++) if (!equal(this.at(index), other.at(index))) return false;
    return true;
  }

  plus(other: ListValue): ListValue {
    return new ConcatenatedList(this, other);
  }

  contains(value: Value): boolean {
    for (let index = 0; index < this.size; index++) if (equal(this.at(index), value)) return true;
    return false;
  }

  *all(): Generator<Value> {
    for (let index = 0; index < this.size; index++) yield this.at(index);
  }
}

export class ArrayListValue extends ListValue {
  readonly items: Value[];

  constructor(items: Value[]) {
    super();
    this.items = items;
  }

  get size(): number {
    return this.items.length;
  }

  at(index: number): Value {
    return this.items[index]!;
  }
}

/** The concatenation of two lists, in constant time for any length. Upstream: cel-go `concatList`. */
class ConcatenatedList extends ListValue {
  readonly #first: ListValue;
  readonly #second: ListValue;
  readonly size: number;

  constructor(first: ListValue, second: ListValue) {
    super();
    this.#first = first;
    this.#second = second;
    this.size = first.size + second.size;
  }

  at(index: number): Value {
    const { size } = this.#first;
    return index < size ? this.#first.at(index) : this.#second.at(index - size);
  }
}

export abstract class MapValue {
  abstract readonly size: number;
  /** Returns the value; `undefined` when the key is absent. */
  abstract get(key: Value): Value | undefined;
  abstract keys(): Iterable<Value>;

  /** The type of an object; `undefined` for maps. */
  get objectType(): Type | undefined {
    return undefined;
  }

  equals(other: MapValue): boolean {
    if (this.size !== other.size) return false;
    for (const key of this.keys()) {
      const otherValue = other.get(key);
      if (otherValue === undefined || !equal(this.get(key)!, otherValue)) return false;
    }
    return true;
  }
}

/** A map that reads its values from other data. Caches list and map values, so that they keep their own caches. */
export abstract class LazyMapValue extends MapValue {
  #cached: Map<Value, Value> | undefined;

  get(key: Value): Value | undefined {
    const cached = this.#cached?.get(key);
    if (cached !== undefined) return cached;
    const value = this.read(key);
    if (value instanceof ListValue || value instanceof MapValue) (this.#cached ??= new Map()).set(key, value);
    return value;
  }

  /** Reads a value from the data; `undefined` when the key is absent. */
  protected abstract read(key: Value): Value | undefined;
}

/** A map that an expression creates. */
export class MutableMapValue extends MapValue {
  readonly #entries = new Map<string, [Value, Value]>();

  get size(): number {
    return this.#entries.size;
  }

  get(key: Value): Value | undefined {
    return this.#entries.get(mapKey(key))?.[1];
  }

  /** Adds an entry. Returns false and changes nothing when the key is present. */
  add(key: Value, value: Value): boolean {
    const text = mapKey(key);
    if (this.#entries.has(text)) return false;
    this.#entries.set(text, [key, value]);
    return true;
  }

  *keys(): Generator<Value> {
    for (const [key] of this.#entries.values()) yield key;
  }
}

/** Returns the same text for equal keys. Numbers of different types can be equal. */
function mapKey(key: Value): string {
  if (typeof key === "bigint") return `n${key}`;
  if (typeof key === "number") return Number.isInteger(key) ? `n${BigInt(key)}` : `d${key}`;
  if (key instanceof UnsignedInteger) return `n${key.value}`;
  if (typeof key === "string") return `s${key}`;
  if (typeof key === "boolean") return `b${key}`;
  throw new EvaluationProblem(`unsupported key type: ${typeNameOf(key)}`);
}

/**
 * The maximum length of a string that an expression creates. Deliberate: upstream has no limit, because it adds the
 * cost only afterwards.
 */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/**
 * Checks the length of a string before it is created.
 *
 * @throws EvaluationProblem when the string would be too long
 */
export function checkLength(characters: number): void {
  if (characters > MAX_CHARACTERS) throw new EvaluationProblem(`text is longer than ${MAX_CHARACTERS} characters`);
}

/** Formats a key for error messages. */
export function keyText(key: Value): string {
  return typeof key === "string" ? key : mapKey(key).slice(1);
}

/** Returns the same text for equal values, to compare unordered lists. */
export function fingerprint(value: Value): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof ListValue) return `[${[...value.all()].map(fingerprint).join(",")}]`;
  if (value instanceof MapValue) {
    return `{${[...value.keys()]
      .map((key) => `${mapKey(key)}:${fingerprint(value.get(key)!)}`)
      .sort()
      .join(",")}}`;
  }
  if (typeof value === "bigint" || typeof value === "number" || value instanceof UnsignedInteger) return mapKey(value);
  if (value instanceof Timestamp) return `t${value.nanos}`;
  if (value instanceof Duration) return `d${value.nanos}`;
  if (value instanceof Uint8Array) return `x${value.join(",")}`;
  throw new EvaluationProblem(`no such overload: ${typeNameOf(value)}`);
}

/** Whether two values are equal. Numbers of different types can be equal; other values of different types cannot. */
export function equal(a: Value, b: Value): boolean {
  if (a === b) return true;
  const order = compareNumbers(a, b);
  if (order !== undefined) return order === 0;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0;
  if (a instanceof ListValue) return b instanceof ListValue && a.equals(b);
  if (a instanceof MapValue) return b instanceof MapValue && a.equals(b);
  if (a instanceof TypeValue) return b instanceof TypeValue && isSameType(a.type, b.type);
  if (a instanceof Optional) {
    if (!(b instanceof Optional)) return false;
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return equal(a.value, b.value);
  }
  return a instanceof OpaqueValue && b instanceof OpaqueValue && a.equals(b);
}

function isNumeric(value: Value): value is bigint | number | UnsignedInteger {
  return typeof value === "bigint" || typeof value === "number" || value instanceof UnsignedInteger;
}

/** Compares two numbers: negative, zero or positive, or `NaN` when one is NaN; `undefined` when one is not a number. */
function compareNumbers(a: Value, b: Value): number | undefined {
  if (!isNumeric(a) || !isNumeric(b)) return undefined;
  const left = a instanceof UnsignedInteger ? a.value : a;
  const right = b instanceof UnsignedInteger ? b.value : b;
  // JavaScript compares bigint with number exactly. Two values that are neither less nor greater are equal, or one is
  // NaN.
  if (left < right) return -1;
  if (left > right) return 1;
  return left <= right ? 0 : NaN;
}

/** Compares two values: negative, zero or positive; `undefined` for values without an order. */
export function compare(a: Value, b: Value): number | undefined {
  const order = compareNumbers(a, b);
  if (order !== undefined) return order;
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (a instanceof Timestamp && b instanceof Timestamp) return sign(a.nanos - b.nanos);
  if (a instanceof Duration && b instanceof Duration) return sign(a.nanos - b.nanos);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b);
  return undefined;
}

function sign(difference: bigint): number {
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shorter = Math.min(a.length, b.length);
  for (let index = 0; index < shorter; index++) if (a[index] !== b[index]) return a[index]! - b[index]!;
  return a.length - b.length;
}

/** Compares by code points, which is the order of UTF-8. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const shorter = Math.min(a.length, b.length);
  for (let index = 0; index < shorter; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left === right) continue;
    const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;
    if (isSurrogate(left) !== isSurrogate(right)) return isSurrogate(left) ? 1 : -1;
    return left - right;
  }
  return a.length - b.length;
}

export function typeOfValue(value: Value): Type {
  if (value === null) return NULL;
  if (typeof value === "boolean") return BOOL;
  if (typeof value === "bigint") return INT;
  if (typeof value === "number") return DOUBLE;
  if (typeof value === "string") return STRING;
  if (value instanceof UnsignedInteger) return UINT;
  if (value instanceof Uint8Array) return BYTES;
  if (value instanceof Timestamp) return TIMESTAMP;
  if (value instanceof Duration) return DURATION;
  if (value instanceof ListValue) return listOf(DYN);
  if (value instanceof MapValue) return value.objectType ?? mapOf(DYN, DYN);
  if (value instanceof Optional) return optionalOf(DYN);
  if (value instanceof TypeValue) return typeOf();
  return opaque(value.opaqueType);
}

/** Returns the type name for evaluation errors, without the types of items. */
export function typeNameOf(value: Value): string {
  const type = typeOfValue(value);
  if (type.kind === "opaque") return type.name;
  return type.kind === "list" || type.kind === "map" ? type.kind : typeName(type);
}

/** Returns a predicate that tests whether a value matches a parameter type. */
export function typePredicate(type: Type): (value: Value) => boolean {
  switch (type.kind) {
    case "dyn":
    case "parameter":
    case "error":
      return () => true;
    case "bool":
      return (value) => typeof value === "boolean";
    case "int":
      return (value) => typeof value === "bigint";
    case "double":
      return (value) => typeof value === "number";
    case "string":
      return (value) => typeof value === "string";
    case "list":
      return (value) => value instanceof ListValue;
    case "map":
      return (value) => value instanceof MapValue;
    case "object":
      return (value) => value instanceof MapValue && value.objectType !== undefined;
    case "type":
      return (value) => value instanceof TypeValue;
    case "opaque":
      return type.name === "optional_type"
        ? (value) => value instanceof Optional
        : (value) => value instanceof OpaqueValue && value.opaqueType === type.name;
    default:
      return (value) => typeOfValue(value).kind === type.kind;
  }
}

/** Returns the size that costs depend on: characters, bytes, items or entries; 1 for other values. */
export function sizeOfValue(value: Value): number {
  if (typeof value === "string") return value.length;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof ListValue || value instanceof MapValue) return value.size;
  if (value instanceof Optional) return value.value === undefined ? 1 : sizeOfValue(value.value);
  return 1;
}

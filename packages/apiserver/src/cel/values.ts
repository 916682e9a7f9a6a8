import { UnsignedInteger } from "./syntax.js";
import { type Type, typeName } from "./types.js";

/** A value of the expression language while an expression is evaluated. */
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

/** Why an expression has no value: upstream's words. */
export class EvaluationProblem extends Error {
  constructor(message: string) {
    // A loop may come upon one with every item, and to write down the stack takes ten times as long as all else.
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

/** Nanoseconds. */
export class Duration {
  constructor(readonly nanos: bigint) {}
}

/** A type as a value, as `type(x)` gives it. */
export class TypeValue {
  constructor(readonly type: Type) {}
}

/** A value that may be missing. */
export class Optional {
  constructor(readonly value: Value | undefined) {}
}

/** What functions alone make and read, of a type with that name. */
export interface OpaqueValue {
  readonly opaqueType: string;
  equals(other: OpaqueValue): boolean;
  /** As `string(…)` gives it, if it does. */
  readonly text?: string;
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

/** Two lists as one, which costs as little as it says, however long they are. Upstream: cel-go `concatList`. */
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
  /** `undefined` when there is no such key. */
  abstract get(key: Value): Value | undefined;
  abstract keys(): Iterable<Value>;

  /** Of an object: its type. Maps have none of their own. */
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

/** A map that is read out of something else, and keeps the lists and maps in it with what was found out about them. */
export abstract class LazyMapValue extends MapValue {
  #cached: Map<Value, Value> | undefined;

  get(key: Value): Value | undefined {
    const cached = this.#cached?.get(key);
    if (cached !== undefined) return cached;
    const value = this.read(key);
    if (value instanceof ListValue || value instanceof MapValue) (this.#cached ??= new Map()).set(key, value);
    return value;
  }

  /** `undefined` when there is no such key. */
  protected abstract read(key: Value): Value | undefined;
}

/** A map that an expression made. */
export class MutableMapValue extends MapValue {
  readonly #entries = new Map<string, [Value, Value]>();

  get size(): number {
    return this.#entries.size;
  }

  get(key: Value): Value | undefined {
    return this.#entries.get(mapKey(key))?.[1];
  }

  /** Whether the key is new. */
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

/** The same text for keys that are equal: numbers of all kinds are. */
function mapKey(key: Value): string {
  if (typeof key === "bigint") return `n${key}`;
  if (typeof key === "number") return Number.isInteger(key) ? `n${BigInt(key)}` : `d${key}`;
  if (key instanceof UnsignedInteger) return `n${key.value}`;
  if (typeof key === "string") return `s${key}`;
  if (typeof key === "boolean") return `b${key}`;
  throw new EvaluationProblem(`unsupported key type: ${typeNameOf(key)}`);
}

/** Characters of a text that an expression makes. Deliberate: upstream makes any, which costs are reckoned of only later. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** @throws EvaluationProblem when a text of that length would be too long. */
export function checkLength(characters: number): void {
  if (characters > MAX_CHARACTERS) throw new EvaluationProblem(`text is longer than ${MAX_CHARACTERS} characters`);
}

/** A key as errors name it. */
export function keyText(key: Value): string {
  return typeof key === "string" ? key : mapKey(key).slice(1);
}

/** A text that lists of values without an order are compared by: equal values have the same. */
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

/** Whether two values are equal, numbers across their kinds; values of different types are not. */
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
  if (a instanceof TypeValue)
    return b instanceof TypeValue && typeName(eraseItemTypes(a.type)) === typeName(eraseItemTypes(b.type));
  if (a instanceof Optional) {
    if (!(b instanceof Optional)) return false;
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return equal(a.value, b.value);
  }
  if ("opaqueType" in a && "opaqueType" in b) return a.opaqueType === b.opaqueType && a.equals(b);
  return false;
}

/** A list is a list, whatever is in it. */
function eraseItemTypes(type: Type): Type {
  switch (type.kind) {
    case "list":
      return { kind: "list", item: { kind: "dyn" } };
    case "map":
      return { kind: "map", key: { kind: "dyn" }, value: { kind: "dyn" } };
    case "opaque":
      return { kind: "opaque", name: type.name, parameters: [] };
    case "type":
      return { kind: "type", of: undefined };
    default:
      return type;
  }
}

function isNumeric(value: Value): value is bigint | number | UnsignedInteger {
  return typeof value === "bigint" || typeof value === "number" || value instanceof UnsignedInteger;
}

/** Below, at or above zero, as the first number is less, equal or greater; `NaN` when it is none of them. */
function compareNumbers(a: Value, b: Value): number | undefined {
  if (!isNumeric(a) || !isNumeric(b)) return undefined;
  const left = a instanceof UnsignedInteger ? a.value : a;
  const right = b instanceof UnsignedInteger ? b.value : b;
  // JavaScript orders its two kinds of numbers exactly; what is neither below nor above is the same, or none.
  if (left < right) return -1;
  if (left > right) return 1;
  return left <= right ? 0 : NaN;
}

/** Below, at or above zero; `undefined` for values that have no order among them. */
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

/** By code points, as UTF-8 sorts. */
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

const DYN: Type = { kind: "dyn" };

export function typeOfValue(value: Value): Type {
  if (value === null) return { kind: "null" };
  switch (typeof value) {
    case "boolean":
      return { kind: "bool" };
    case "bigint":
      return { kind: "int" };
    case "number":
      return { kind: "double" };
    case "string":
      return { kind: "string" };
    default:
  }
  if (value instanceof UnsignedInteger) return { kind: "uint" };
  if (value instanceof Uint8Array) return { kind: "bytes" };
  if (value instanceof Timestamp) return { kind: "timestamp" };
  if (value instanceof Duration) return { kind: "duration" };
  if (value instanceof ListValue) return { kind: "list", item: DYN };
  if (value instanceof MapValue) return value.objectType ?? { kind: "map", key: DYN, value: DYN };
  if (value instanceof Optional) return { kind: "opaque", name: "optional_type", parameters: [DYN] };
  if (value instanceof TypeValue) return { kind: "type", of: undefined };
  return { kind: "opaque", name: value.opaqueType, parameters: [] };
}

/** As evaluation errors name it: without what is in a list or map. */
export function typeNameOf(value: Value): string {
  const type = typeOfValue(value);
  return type.kind === "list" || type.kind === "map" || type.kind === "opaque"
    ? type.kind === "opaque"
      ? type.name
      : type.kind
    : typeName(type);
}

/** Whether a value may be handed to a parameter of that type. */
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
        : (value) =>
            typeof value === "object" && value !== null && "opaqueType" in value && value.opaqueType === type.name;
    default:
      return (value) => typeOfValue(value).kind === type.kind;
  }
}

/** Characters, bytes, items or entries: what costs are reckoned by. One for everything else. */
export function sizeOfValue(value: Value): number {
  if (typeof value === "string") return value.length;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof ListValue || value instanceof MapValue) return value.size;
  if (value instanceof Optional) return value.value === undefined ? 1 : sizeOfValue(value.value);
  return 1;
}

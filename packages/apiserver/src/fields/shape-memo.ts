import { isJsonObject, jsonEqual, ownMember } from "../json.js";
import type { Schema } from "../schema/schema.js";
import type { FieldSet } from "./field-set.js";
import { compareTyped, edgeOf, isAtomic, memberSchema } from "./typed-value.js";

/** Maximum number of steps per memo; beyond it the memo is cleared. A step takes about 100 bytes. */
const MAX_STEPS = 20_000;

const END = Symbol("end");
const ITEM = Symbol("item");
type Token = string | typeof END | typeof ITEM | boolean;

/** Differences between a value and the base value. */
export interface FieldChanges {
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

/**
 * Memoizes the differences between values of one type and a base value, by shape. The fields of a new object do not
 * depend on its scalars. Most objects of a kind have the same shape. So few objects are compared, and objects of the
 * same shape share field sets.
 */
export class ShapeMemo {
  readonly #schema: Schema;
  readonly #base: unknown;
  #root = new Step();
  #steps = 0;

  /** @param base - The value that all values are compared with. */
  constructor(schema: Schema, base: unknown) {
    this.#schema = schema;
    this.#base = base;
  }

  compare(value: unknown): FieldChanges {
    const last = this.#walk(this.#root, this.#schema, this.#base, value);
    if (last === undefined) {
      this.#root = new Step();
      this.#steps = 0;
      return this.#compare(value);
    }
    return (last.result ??= this.#compare(value));
  }

  #compare(value: unknown): FieldChanges {
    const { added, modified, removed } = compareTyped(this.#schema, this.#base, value);
    return { changed: added.union(modified), removed };
  }

  /** Follows the value's shape. Returns `undefined` when the memo is full. */
  #walk(from: Step, schema: Schema | undefined, base: unknown, value: unknown): Step | undefined {
    if (isAtomic(schema)) return base === undefined ? from : this.#step(from, jsonEqual(base, value));
    let step: Step | undefined = from;
    if (schema?.type === "list") {
      // The base object has no lists; a list in it would be compared as a whole.
      if (!Array.isArray(value)) return this.#step(step, false);
      for (const item of value as unknown[]) {
        step = this.#step(step, ITEM);
        if (step === undefined) return undefined;
        step = this.#step(step, edgeOf(schema, item));
        if (step === undefined) return undefined;
        step = this.#walk(step, schema.item, undefined, item);
        if (step === undefined) return undefined;
      }
      return this.#step(step, END);
    }
    if (!isJsonObject(value)) return this.#step(step, value === null);
    for (const key in value) {
      const member = value[key];
      if (member === undefined) continue;
      step = this.#step(step, key);
      if (step === undefined) return undefined;
      step = this.#walk(step, memberSchema(schema, key), isJsonObject(base) ? ownMember(base, key) : undefined, member);
      if (step === undefined) return undefined;
    }
    return this.#step(step, END);
  }

  #step(from: Step, token: Token): Step | undefined {
    if (from.token === token) return from.only;
    const known = from.others?.get(token);
    if (known !== undefined) return known;
    if (++this.#steps > MAX_STEPS) return undefined;
    const next = new Step();
    if (from.only === undefined) {
      from.token = token;
      from.only = next;
    } else (from.others ??= new Map()).set(token, next);
    return next;
  }
}

/** A node of the tree of shapes. Most nodes have one child. */
class Step {
  token: Token | undefined;
  only: Step | undefined;
  others: Map<Token, Step> | undefined;
  result: FieldChanges | undefined;
}

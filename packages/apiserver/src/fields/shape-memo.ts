import { isJsonObject, jsonEqual, ownMember } from "../json.js";
import type { Schema } from "../schema/schema.js";
import type { FieldSet } from "./field-set.js";
import { compareTyped, edgeOf, isAtomic, memberSchema } from "./typed-value.js";

/** Steps remembered per memo; beyond, it begins anew. A step takes about 100 bytes. */
const MAX_STEPS = 20_000;

const END = Symbol("end");
const ITEM = Symbol("item");
type Token = string | typeof END | typeof ITEM | boolean;

/** How a value differs from the fixed one. */
export interface FieldChanges {
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

/**
 * Remembers how values of one type differ from a fixed one in places, by their shape: which places a new object has does not
 * depend on what its scalars hold. Most objects of a kind are alike, so few are compared at all, and those that are alike
 * share their field sets.
 */
export class ShapeMemo {
  readonly #schema: Schema;
  readonly #base: unknown;
  #root = new Step();
  #steps = 0;

  /** @param base - What values are compared with. */
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

  /** Follows the value's shape. Answers `undefined` when there is no room to remember it. */
  #walk(from: Step, schema: Schema | undefined, base: unknown, value: unknown): Step | undefined {
    if (isAtomic(schema)) return base === undefined ? from : this.#step(from, jsonEqual(base, value));
    let step: Step | undefined = from;
    if (schema?.type === "list") {
      // Lists are not in what every object has; one that is would be compared as a whole.
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

/** A place in the tree of shapes. Most have one way on. */
class Step {
  token: Token | undefined;
  only: Step | undefined;
  others: Map<Token, Step> | undefined;
  result: FieldChanges | undefined;
}

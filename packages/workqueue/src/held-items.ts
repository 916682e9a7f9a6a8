/** So many strings are faster found by looking at each. */
const MOST_IN_ARRAY = 8;

/**
 * A set for the items that workers hold: mostly none, one or a few. A `Set` makes itself a new table whenever it has
 * become empty, which costs more than all else that is done with it.
 */
export class HeldItems<T> {
  readonly #few: T[] = [];
  readonly #others = new Set<T>();

  get size(): number {
    return this.#few.length + this.#others.size;
  }

  has(item: T): boolean {
    return this.#few.includes(item) || (this.#others.size > 0 && this.#others.has(item));
  }

  /** Answers whether the item was not there before. */
  add(item: T): boolean {
    if (this.has(item)) return false;
    // An array does not find everything that a Set does: NaN.
    if (typeof item === "string" && this.#few.length < MOST_IN_ARRAY) this.#few.push(item);
    else this.#others.add(item);
    return true;
  }

  /** Answers whether the item was there. */
  delete(item: T): boolean {
    const index = this.#few.indexOf(item);
    if (index < 0) return this.#others.size > 0 && this.#others.delete(item);
    const last = this.#few.pop()!;
    if (index < this.#few.length) this.#few[index] = last;
    return true;
  }
}

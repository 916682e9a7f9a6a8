/** So many strings are faster found by looking at each. */
const MAX_IN_ARRAY = 8;

/**
 * A set for the items that workers hold: mostly none, one or a few. A `Set` makes itself a new table whenever it has
 * become empty, which costs more than all else that is done with it.
 */
export class SmallSet<T> {
  readonly #array: T[] = [];
  readonly #overflow = new Set<T>();

  get size(): number {
    return this.#array.length + this.#overflow.size;
  }

  has(item: T): boolean {
    return this.#array.includes(item) || (this.#overflow.size > 0 && this.#overflow.has(item));
  }

  /** Answers whether the item was not there before. */
  add(item: T): boolean {
    if (this.has(item)) return false;
    // An array does not find everything that a Set does: NaN.
    if (typeof item === "string" && this.#array.length < MAX_IN_ARRAY) this.#array.push(item);
    else this.#overflow.add(item);
    return true;
  }

  /** Answers whether the item was there. */
  delete(item: T): boolean {
    const index = this.#array.indexOf(item);
    if (index < 0) return this.#overflow.size > 0 && this.#overflow.delete(item);
    const last = this.#array.pop()!;
    if (index < this.#array.length) this.#array[index] = last;
    return true;
  }
}

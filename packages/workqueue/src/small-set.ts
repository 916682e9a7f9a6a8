/** Up to this size, a linear search of strings is faster than a `Set`. */
const MAX_IN_ARRAY = 8;

/**
 * A set that usually has no, one or a few items, such as the items in processing. A `Set` allocates a new table
 * whenever it has become empty, which costs more than all other operations on it.
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

  /** Adds an item. Returns false if the set contained it before. */
  add(item: T): boolean {
    if (this.has(item)) return false;
    // `Array.indexOf` does not find NaN, so only strings go into the array.
    if (typeof item === "string" && this.#array.length < MAX_IN_ARRAY) this.#array.push(item);
    else this.#overflow.add(item);
    return true;
  }

  /** Removes an item. Returns whether the set contained it. */
  delete(item: T): boolean {
    const index = this.#array.indexOf(item);
    if (index < 0) return this.#overflow.size > 0 && this.#overflow.delete(item);
    const last = this.#array.pop()!;
    if (index < this.#array.length) this.#array[index] = last;
    return true;
  }
}

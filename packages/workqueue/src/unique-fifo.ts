/** Number of removed items after which a generation is closed to new items. */
const MAX_STALE_KEYS = 32;

/**
 * A FIFO queue in which every item occurs at most once.
 *
 * An item is in the queue if its position is not before the front. Removing an item therefore does not delete its key,
 * which would cost as much as adding it. The keys of removed items are dropped together: new items join the newer of
 * two generations. A generation from which {@link MAX_STALE_KEYS} items were removed is closed to new items, and
 * dropped when it is empty. The number of stale keys is at most the length of the queue when the oldest of them joined,
 * plus {@link MAX_STALE_KEYS}.
 */
export class UniqueFifo<T> {
  #older = new Generation<T>();
  #newer = new Generation<T>();

  get size(): number {
    return this.#older.size + this.#newer.size;
  }

  /** Appends an item. Returns false if it is in the queue already. */
  push(item: T): boolean {
    if (this.#newer.has(item) || (this.#older.size > 0 && this.#older.has(item))) return false;
    if (this.#newer.removedCount >= MAX_STALE_KEYS) {
      // Items are removed from the newer generation only when the older one is empty.
      this.#older = this.#newer;
      this.#newer = new Generation();
    }
    this.#newer.push(item);
    return true;
  }

  /** Removes and returns the first item. The queue must not be empty. */
  shift(): T {
    const newest = this.#older.size === 0;
    const generation = newest ? this.#newer : this.#older;
    const item = generation.shift();
    if (generation.size === 0 && generation.removedCount >= MAX_STALE_KEYS) {
      if (newest) this.#newer = new Generation();
      else this.#older = new Generation();
    }
    return item;
  }
}

class Generation<T> {
  readonly #items: T[] = [];
  readonly #positions = new Map<T, number>();
  /** Number of removed items, which is the position of the front. */
  removedCount = 0;

  get size(): number {
    return this.#items.length - this.removedCount;
  }

  has(item: T): boolean {
    const position = this.#positions.get(item);
    return position !== undefined && position >= this.removedCount;
  }

  push(item: T): void {
    this.#positions.set(item, this.#items.length);
    this.#items.push(item);
  }

  shift(): T {
    return this.#items[this.removedCount++]!;
  }
}

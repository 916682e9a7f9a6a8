/** How many items that left a generation may keep before it is closed. */
const MAX_STALE_KEYS = 32;

/**
 * Items in order of arrival, each at most once.
 *
 * An item is in as long as its position is not behind the front, so nothing is looked up again and deleted when it leaves:
 * that would cost as much as adding did. The keys of those that left go all at once instead. New items join the newer of
 * two generations; one that items have left is closed to new ones, and dropped when it is empty. Keys kept for nothing
 * are thus at most as many as the queue was long when the oldest of them joined, and {@link MAX_STALE_KEYS}.
 */
export class UniqueFifo<T> {
  #older = new Generation<T>();
  #newer = new Generation<T>();

  get size(): number {
    return this.#older.size + this.#newer.size;
  }

  /** Answers whether the item was not there before. */
  push(item: T): boolean {
    if (this.#newer.has(item) || (this.#older.size > 0 && this.#older.has(item))) return false;
    if (this.#newer.removedCount >= MAX_STALE_KEYS) {
      // Items leave the newer one only when the older one is empty.
      this.#older = this.#newer;
      this.#newer = new Generation();
    }
    this.#newer.push(item);
    return true;
  }

  /** Takes the first item out. Only when there is one. */
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
  /** How many have left: the position of the front. */
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

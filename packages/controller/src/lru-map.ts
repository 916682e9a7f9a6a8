/**
 * A map that holds the `capacity` entries used last, and for a while up to 1/64 more: the oldest are removed several at a
 * time, as finding the first entry of a `Map` that has lost many at its beginning is slow.
 */
export class LruMap<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #capacity: number;
  readonly #most: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#most = capacity + (capacity >> 6);
  }

  /** Counts as use. */
  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#most) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      if (this.#entries.size <= this.#capacity) return;
    }
  }
}

import type { Clock } from "@kubewright/clock";

export interface Reviewed<V> {
  readonly value: V;
  /** How long the value may be reused; 0 or less: it is not cached. */
  readonly ttlMs: number;
}

interface Entry<V> {
  readonly value: V;
  readonly expiresMs: number;
}

/**
 * LRU cache of review results, with at most `capacity` entries. Concurrent calls for one key share one review. A failed
 * review is not cached.
 */
export class ReviewCache<V> {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #capacity: number;
  readonly #entries = new Map<string, Entry<V>>();
  readonly #pending = new Map<string, Promise<V>>();

  constructor({ clock, capacity = 4_096 }: { clock: Pick<Clock, "monotonic">; capacity?: number }) {
    this.#clock = clock;
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** @throws What `review` throws. */
  async get(key: string, review: () => Promise<Reviewed<V>>): Promise<V> {
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    if (known !== undefined && this.#clock.monotonic() < known.expiresMs) {
      // Moves the entry to the end of the LRU order.
      this.#entries.set(key, known);
      return known.value;
    }
    const pending = this.#pending.get(key);
    if (pending !== undefined) return pending;
    const fetched = this.#fetch(key, review).finally(() => this.#pending.delete(key));
    this.#pending.set(key, fetched);
    return fetched;
  }

  async #fetch(key: string, review: () => Promise<Reviewed<V>>): Promise<V> {
    const { value, ttlMs } = await review();
    if (ttlMs <= 0) return value;
    this.#entries.set(key, { value, expiresMs: this.#clock.monotonic() + ttlMs });
    if (this.#entries.size > this.#capacity) {
      const oldest = this.#entries.keys().next();
      if (!oldest.done) this.#entries.delete(oldest.value);
    }
    return value;
  }
}

/**
 * Counts durations, for quantiles of any number of them.
 *
 * Durations are rounded to a second below 1000 s and to three digits above. A quantile is correct within 0.5 %, with
 * about 900 counters for each power of ten.
 */
export class Durations {
  readonly #counts = new Map<number, number>();
  #size = 0;
  #longestMs = 0;

  get size(): number {
    return this.#size;
  }

  /** Pairs of seconds and count, in the format of `addCounts`. */
  get counts(): (readonly [number, number])[] {
    return [...this.#counts];
  }

  add(durationMs: number): void {
    this.#count(Number(Math.round(durationMs / 1000).toPrecision(3)), 1);
    this.#longestMs = Math.max(this.#longestMs, durationMs);
  }

  /** Adds the counts of another instance. */
  addCounts(counts: Iterable<readonly [number, number]>): void {
    for (const [seconds, count] of counts) {
      this.#count(seconds, count);
      this.#longestMs = Math.max(this.#longestMs, seconds * 1000);
    }
  }

  /** A copy that can be sent to another thread. */
  get packed(): PackedDurations {
    return { counts: this.counts, longestMs: this.#longestMs };
  }

  static of({ counts, longestMs }: PackedDurations): Durations {
    const durations = new Durations();
    durations.addCounts(counts);
    durations.#longestMs = longestMs;
    return durations;
  }

  /** Returns the duration that this share does not exceed, in milliseconds; `undefined` when there is none. */
  quantile(share: number): number | undefined {
    let left = Math.max(1, Math.ceil(share * this.#size));
    for (const [seconds, count] of [...this.#counts].sort(([a], [b]) => a - b)) {
      left -= count;
      // The rounded value may exceed the longest duration.
      if (left <= 0) return Math.min(seconds * 1000, this.#longestMs);
    }
    return undefined;
  }

  #count(seconds: number, count: number): void {
    this.#counts.set(seconds, (this.#counts.get(seconds) ?? 0) + count);
    this.#size += count;
  }
}

/** Plain data. */
export interface PackedDurations {
  readonly counts: readonly (readonly [number, number])[];
  readonly longestMs: number;
}

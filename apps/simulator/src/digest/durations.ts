/**
 * How often each duration came up, for quantiles of any number of them: kept to the second below 1000 s, to three digits
 * above, so that a quantile is right within half a percent, in about 900 counters for each power of ten.
 */
export class Durations {
  readonly #counts = new Map<number, number>();
  #size = 0;
  #longestMs = 0;

  get size(): number {
    return this.#size;
  }

  /** Seconds, and how often: what `addCounts` takes. */
  get counts(): (readonly [number, number])[] {
    return [...this.#counts];
  }

  add(durationMs: number): void {
    this.#count(Number(Math.round(durationMs / 1000).toPrecision(3)), 1);
    this.#longestMs = Math.max(this.#longestMs, durationMs);
  }

  /** Those that another has counted. */
  addCounts(counts: Iterable<readonly [number, number]>): void {
    for (const [seconds, count] of counts) {
      this.#count(seconds, count);
      this.#longestMs = Math.max(this.#longestMs, seconds * 1000);
    }
  }

  /** As it can be handed to another thread. */
  get packed(): PackedDurations {
    return { counts: this.counts, longestMs: this.#longestMs };
  }

  static of({ counts, longestMs }: PackedDurations): Durations {
    const durations = new Durations();
    durations.addCounts(counts);
    durations.#longestMs = longestMs;
    return durations;
  }

  /** The duration that this share of all does not exceed, in milliseconds; `undefined` when there is none. */
  quantile(share: number): number | undefined {
    let left = Math.max(1, Math.ceil(share * this.#size));
    for (const [seconds, count] of [...this.#counts].sort(([a], [b]) => a - b)) {
      left -= count;
      // Rounded up it may be longer than any was.
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

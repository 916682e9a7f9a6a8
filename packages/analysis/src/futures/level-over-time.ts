/** Levels below this are exact; higher levels are rounded up to 15 binary digits. */
const EXACT = 2 ** 15;

/**
 * Tracks a level over time: its maximum, and the total duration of each value.
 *
 * Memory grows with the number of distinct values, at most 2^14 for each doubling above 2^15.
 */
export class LevelOverTime {
  readonly #startMs: number;
  readonly #durationByLevelMs = new Map<number, number>();
  #now = 0;
  #max = 0;
  #sinceMs: number;

  /** The level is 0 from `startMs` until the first change. */
  constructor(startMs: number) {
    this.#startMs = startMs;
    this.#sinceMs = startMs;
  }

  get max(): number {
    return this.#max;
  }

  change(by: number, atMs: number): void {
    this.#accumulate(atMs);
    this.#now += by;
    if (this.#now > this.#max) this.#max = this.#now;
  }

  /** Returns the level that was not exceeded for this share of the time until `endMs`. */
  quantile(share: number, endMs: number): number {
    this.#accumulate(endMs);
    let leftMs = Math.floor(share * (endMs - this.#startMs));
    for (const [level, durationMs] of [...this.#durationByLevelMs].sort(([a], [b]) => a - b)) {
      leftMs -= durationMs;
      // The rounded value may exceed the maximum.
      if (leftMs <= 0) return Math.min(level, this.#max);
    }
    return this.#max;
  }

  #accumulate(untilMs: number): void {
    if (untilMs <= this.#sinceMs) return;
    const level = rounded(this.#now);
    this.#durationByLevelMs.set(level, (this.#durationByLevelMs.get(level) ?? 0) + untilMs - this.#sinceMs);
    this.#sinceMs = untilMs;
  }
}

function rounded(level: number): number {
  if (level < EXACT) return level;
  const unit = 2 ** (Math.floor(Math.log2(level)) - 14);
  return Math.ceil(level / unit) * unit;
}

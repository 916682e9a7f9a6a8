/** Levels are kept exactly up to so many; above, to as many binary digits, rounded up. */
const EXACT = 2 ** 15;

/**
 * Follows a level that rises and falls: the highest, and for how long it was how high. What is kept grows with the number of
 * different levels, of which there are at most 2^14 for each doubling above 2^15.
 */
export class LevelOverTime {
  readonly #startMs: number;
  readonly #durationByLevelMs = new Map<number, number>();
  #now = 0;
  #max = 0;
  #sinceMs: number;

  /** It is 0 from here on, until it is changed. */
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

  /** The level that was not exceeded for this share of the time until then. */
  quantile(share: number, endMs: number): number {
    this.#accumulate(endMs);
    let leftMs = Math.floor(share * (endMs - this.#startMs));
    for (const [level, durationMs] of [...this.#durationByLevelMs].sort(([a], [b]) => a - b)) {
      leftMs -= durationMs;
      // Rounded up it may be more than there ever was.
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

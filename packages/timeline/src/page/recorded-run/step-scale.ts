/** Distance between two steps at the same time, in pixels. */
const COLUMN = 15;
const MARGIN = 18;
/** Additional distance for the time between steps: a millisecond is visible, and a day does not fill a screen. */
const gapOf = (ms: number): number => (ms <= 0 ? 0 : 8 + 7 * Math.log10(1 + ms));

/** Positions of the steps, side by side, with idle time compressed. */
export class StepScale {
  readonly width: number;
  readonly #x: Float64Array;
  readonly #steps: readonly number[];

  /** @param steps - Displayed steps, in order. */
  constructor(steps: readonly number[], atMs: (step: number) => number) {
    this.#steps = steps;
    this.#x = new Float64Array(steps.length);
    let x = MARGIN;
    for (const [place, step] of steps.entries()) {
      if (place > 0) x += COLUMN + gapOf(atMs(step) - atMs(steps[place - 1]!));
      this.#x[place] = x;
    }
    this.width = x + 3 * MARGIN;
  }

  /** Returns the middle of the displayed step with an index. */
  middle(place: number): number {
    return this.#x[place] ?? this.width - MARGIN;
  }

  /**
   * Returns where a step begins. For a step that is not displayed, this is the beginning of the next displayed step.
   */
  begin(step: number): number {
    const place = this.placeFrom(step);
    return place >= this.#steps.length ? this.width : place === 0 && step <= 0 ? 0 : this.middle(place) - COLUMN / 2;
  }

  /** Returns the index of the first displayed step at or after a step. */
  placeFrom(step: number): number {
    return firstFrom(this.#steps, step);
  }

  /** Returns the index of the nearest displayed step. */
  placeAt(x: number): number {
    const after = firstFrom(this.#x, x);
    if (after === 0) return 0;
    if (after >= this.#x.length) return this.#x.length - 1;
    return x - this.#x[after - 1]! <= this.#x[after]! - x ? after - 1 : after;
  }
}

function firstFrom(sorted: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

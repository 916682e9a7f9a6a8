/** Between two steps of one instant, in pixels. */
const COLUMN = 15;
const MARGIN = 18;
/** More for the time between steps: a millisecond is seen, and a day does not take a screen. */
const gapOf = (ms: number): number => (ms <= 0 ? 0 : 8 + 7 * Math.log10(1 + ms));

/** Where each step is: one beside the other, with idle stretches compressed. */
export class StepScale {
  readonly width: number;
  readonly #x: Float64Array;
  readonly #steps: readonly number[];

  /** @param steps - Those that are shown, in their order. */
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

  /** The middle of the shown step with that place. */
  middle(place: number): number {
    return this.#x[place] ?? this.width - MARGIN;
  }

  /** Where a step begins, shown or not: with the first that is shown from there on. */
  begin(step: number): number {
    const place = this.placeFrom(step);
    return place >= this.#steps.length ? this.width : place === 0 && step <= 0 ? 0 : this.middle(place) - COLUMN / 2;
  }

  /** The place of the first shown step that is not before that one. */
  placeFrom(step: number): number {
    return firstFrom(this.#steps, step);
  }

  /** The place of the shown step that is nearest. */
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

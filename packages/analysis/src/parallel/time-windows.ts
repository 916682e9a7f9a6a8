import { SLICE_MS } from "../run/simulation.js";

/** Output of all namespaces above which the next time windows are shorter, in bytes. */
const MAX_BYTES = 4 * 2 ** 20;
/** A power of two of slices, so that half of it is a whole number of slices. */
const LONGEST_MS = 16 * SLICE_MS;

/**
 * The consecutive windows of virtual time that all namespaces simulate.
 *
 * The windows are as long as the output limit permits. In a long window most garbage of a namespace dies before V8
 * collects it. When namespaces alternate every hour, the data of each hour survives the work of the other namespaces
 * and V8 has to move it. The length of the windows changes neither the output nor its order.
 */
export class TimeWindows {
  readonly #durationMs: number;
  readonly #endsMs: number[] = [];
  #lengthMs = SLICE_MS;
  #isStopped = false;

  constructor(durationMs: number) {
    this.#durationMs = durationMs;
  }

  /** Number of windows; infinite until the last window is known. */
  get count(): number {
    const isLast = this.#isStopped || this.endMs(this.#endsMs.length - 1) === this.#durationMs;
    return isLast ? this.#endsMs.length : Number.POSITIVE_INFINITY;
  }

  /** @param index - At most one more than the highest index so far. The end of the window before the first is 0. */
  endMs(index: number): number {
    if (index < 0) return 0;
    return (this.#endsMs[index] ??= Math.min(this.endMs(index - 1) + this.#lengthMs, this.#durationMs));
  }

  /** Adjusts the length after all runners have finished a window. */
  completed(bytes: number): void {
    if (bytes > MAX_BYTES) this.#lengthMs = Math.max(this.#lengthMs / 2, SLICE_MS);
    else if (bytes < MAX_BYTES / 4) this.#lengthMs = Math.min(this.#lengthMs * 2, LONGEST_MS);
  }

  /** Ends the sequence after the last requested window. */
  stop(): void {
    this.#isStopped = true;
  }
}

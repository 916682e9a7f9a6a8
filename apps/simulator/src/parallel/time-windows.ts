import { SLICE_MS } from "../simulation.js";

/** What a stretch may take, of all namespaces together, before the next ones are shorter. */
const MAX_BYTES = 4 * 2 ** 20;
/** A power of two of slices, so that half of it is some, too. */
const LONGEST_MS = 16 * SLICE_MS;

/**
 * The stretches of virtual time that all namespaces play, one after the other, the same for all.
 *
 * They are as long as what they tell has room: of one namespace that is played for long, most of what it makes is garbage
 * before V8 looks for any, and where namespaces take turns by the hour, all that an hour needs outlives the turns of the
 * others and has to be moved. How long they are changes nothing of what is told, nor its order.
 */
export class TimeWindows {
  readonly #durationMs: number;
  readonly #endsMs: number[] = [];
  #lengthMs = SLICE_MS;
  #isStopped = false;

  constructor(durationMs: number) {
    this.#durationMs = durationMs;
  }

  /** How many there are: no end of them, until the last is known. */
  get count(): number {
    const isLast = this.#isStopped || this.endMs(this.#endsMs.length - 1) === this.#durationMs;
    return isLast ? this.#endsMs.length : Number.POSITIVE_INFINITY;
  }

  /** @param index - At most one more than was asked for before; the end of the one before the first is 0. */
  endMs(index: number): number {
    if (index < 0) return 0;
    return (this.#endsMs[index] ??= Math.min(this.endMs(index - 1) + this.#lengthMs, this.#durationMs));
  }

  /** One has been played by all. */
  completed(bytes: number): void {
    if (bytes > MAX_BYTES) this.#lengthMs = Math.max(this.#lengthMs / 2, SLICE_MS);
    else if (bytes < MAX_BYTES / 4) this.#lengthMs = Math.min(this.#lengthMs * 2, LONGEST_MS);
  }

  /** None but those that were asked for. */
  stop(): void {
    this.#isStopped = true;
  }
}

import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** Size at which the growth of the young generation stops: bytes of both halves. */
const YOUNG_GENERATION_BYTES = 32 * 2 ** 20;

/**
 * Limits the growth of V8's heap, for long work that makes much garbage and retains little.
 *
 * By default V8 lets the old generation grow to four times its live size, and the young generation to 128 MiB. V8 uses
 * the pages of the young generation in rotation until all of them are resident. The limits of the heap are fixed when
 * V8 starts, before any of our code runs. Only the growth factors can be changed later.
 */
export class NodeHeap {
  #isLimited = false;
  #isYoungLimited = false;

  /**
   * Sets the growth factors. Call it repeatedly: the factor of the young generation is set only after that generation
   * has reached its size.
   */
  limitGrowth(): void {
    if (!this.#isLimited) {
      this.#isLimited = true;
      setFlagsFromString("--heap-growing-percent=100");
    }
    if (this.#isYoungLimited || youngBytes() < YOUNG_GENERATION_BYTES) return;
    this.#isYoungLimited = true;
    setFlagsFromString("--semi-space-growth-factor=1");
  }
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space")?.space_size ?? 0;
}

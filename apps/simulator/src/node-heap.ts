import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** Bytes of both halves of the young generation. */
const YOUNG_GENERATION_BYTES = 32 * 2 ** 20;

/**
 * Holds V8's heap near to what is in use, for long work that leaves much garbage and keeps little.
 *
 * By itself V8 lets the old generation grow to four times what is in use, and the young one to 128 MiB, which it uses page by
 * page in turn, until all of them are resident. Its limits are set when it starts, before anything of ours runs; but how it
 * grows can be said at any time.
 */
export class NodeHeap {
  #isLimited = false;
  #isYoungLimited = false;

  /** To be called now and then: the young generation has to have grown first. */
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

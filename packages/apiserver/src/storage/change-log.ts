import type { Change } from "./change.js";
import type { HistoryBudget } from "./history-budget.js";

export interface HistoryLimits {
  /** Changes kept whatever their age. */
  readonly minChanges: number;
  /** Changes kept at most. */
  readonly maxChanges: number;
  /** Between the two, changes older than this are forgotten. */
  readonly maxAgeMs: number;
}

/** The latest changes of one resource, oldest first: what watches resume from and old lists are worked out of. */
export class ChangeLog {
  readonly #limits: HistoryLimits;
  #changes: Change[] = [];
  /** When each change was, its version and its size: beside the changes, as an old one is seldom in the processor's cache. */
  #times: number[] = [];
  #versions: number[] = [];
  #sizes: number[] = [];
  /** Index of the oldest change still kept. */
  #head = 0;
  #forgotten: number;
  readonly #budget: HistoryBudget;
  #bytes = 0;

  /**
   * @param budget - What this log shares with others; it may make it forget more than `limits` would.
   * @param startVersion - The resourceVersion before the first change.
   */
  constructor(limits: HistoryLimits, budget: HistoryBudget, startVersion: number) {
    this.#limits = limits;
    this.#budget = budget;
    this.#forgotten = startVersion;
    budget.join(this);
  }

  /** What is kept, roughly. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Every change with a higher resourceVersion is still here. */
  get forgottenUpTo(): number {
    return this.#forgotten;
  }

  append(change: Change, atMs: number): void {
    this.#changes.push(change);
    this.#times.push(atMs);
    this.#versions.push(change.resourceVersion);
    const { bytes } = change;
    this.#sizes.push(bytes);
    this.#bytes += bytes;
    const { minChanges, maxChanges, maxAgeMs } = this.#limits;
    while (this.#size > minChanges && (this.#size > maxChanges || this.#times[this.#head]! < atMs - maxAgeMs))
      this.#forgetOldest();
    this.#budget.reserve(bytes);
    if (this.#head > 1024 && this.#head * 2 > this.#changes.length) this.#compactArray();
  }

  /** Forgets the oldest changes until that many bytes are free, or nothing is left. */
  forgetBytes(bytes: number): void {
    const enough = this.#bytes - bytes;
    while (this.#size > 0 && this.#bytes > enough) this.#forgetOldest();
  }

  /** Calls back for each change after that resourceVersion, oldest first. */
  forEachAfter(resourceVersion: number, callback: (change: Change) => void): void {
    for (let index = this.#indexAfter(resourceVersion); index < this.#changes.length; index++)
      callback(this.#changes[index]!);
  }

  /** Changes after that resourceVersion, newest first. */
  *newestFirst(resourceVersion: number): Generator<Change> {
    for (let index = this.#changes.length - 1; index >= this.#head; index--) {
      const change = this.#changes[index]!;
      if (change.resourceVersion <= resourceVersion) return;
      yield change;
    }
  }

  /** Forgets everything up to and including that resourceVersion. */
  compact(resourceVersion: number): void {
    while (this.#size > 0 && this.#versions[this.#head]! <= resourceVersion) this.#forgetOldest();
    this.#forgotten = Math.max(this.#forgotten, resourceVersion);
    this.#compactArray();
  }

  get #size(): number {
    return this.#changes.length - this.#head;
  }

  #forgetOldest(): void {
    this.#forgotten = this.#versions[this.#head]!;
    const bytes = this.#sizes[this.#head]!;
    this.#bytes -= bytes;
    this.#budget.release(bytes);
    // The array is cut only now and then; the entry must not keep an old object alive until then.
    (this.#changes as (Change | undefined)[])[this.#head] = undefined;
    this.#head++;
  }

  #compactArray(): void {
    this.#changes = this.#changes.slice(this.#head);
    this.#times = this.#times.slice(this.#head);
    this.#versions = this.#versions.slice(this.#head);
    this.#sizes = this.#sizes.slice(this.#head);
    this.#head = 0;
  }

  #indexAfter(resourceVersion: number): number {
    let low = this.#head;
    let high = this.#versions.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#versions[middle]! > resourceVersion) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

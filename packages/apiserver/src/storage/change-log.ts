import type { Change } from "./change.js";
import type { HistoryBudget } from "./history-budget.js";

export interface HistoryLimits {
  /** Minimum number of changes to keep, whatever their age. */
  readonly minChanges: number;
  /** Maximum number of changes to keep. */
  readonly maxChanges: number;
  /** Between the two limits, older changes are forgotten. */
  readonly maxAgeMs: number;
}

/**
 * The latest changes of one resource, oldest first. Watches resume from it, and lists of earlier versions are
 * reconstructed from it.
 */
export class ChangeLog {
  readonly #limits: HistoryLimits;
  #changes: Change[] = [];
  /**
   * Time, version and size of each change. In separate arrays, because an old change is rarely in the processor's
   * cache.
   */
  #times: number[] = [];
  #versions: number[] = [];
  #sizes: number[] = [];
  /** Index of the oldest change that is still stored. */
  #head = 0;
  #forgotten: number;
  readonly #budget: HistoryBudget;
  #bytes = 0;

  /**
   * @param budget - Byte limit shared with other logs; it may make this log forget more than `limits` requires.
   * @param startVersion - The resourceVersion before the first change.
   */
  constructor(limits: HistoryLimits, budget: HistoryBudget, startVersion: number) {
    this.#limits = limits;
    this.#budget = budget;
    this.#forgotten = startVersion;
    budget.join(this);
  }

  /** Approximate bytes of the stored changes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** All changes with a higher resourceVersion are still stored. */
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

  /** Forgets the oldest changes until that many bytes are free, or no change is left. */
  forgetBytes(bytes: number): void {
    const enough = this.#bytes - bytes;
    while (this.#size > 0 && this.#bytes > enough) this.#forgetOldest();
  }

  /** Calls back for each change after the resourceVersion, oldest first. */
  forEachAfter(resourceVersion: number, callback: (change: Change) => void): void {
    for (let index = this.#indexAfter(resourceVersion); index < this.#changes.length; index++)
      callback(this.#changes[index]!);
  }

  /** Yields the changes after the resourceVersion, newest first. */
  *newestFirst(resourceVersion: number): Generator<Change> {
    for (let index = this.#changes.length - 1; index >= this.#head; index--) {
      const change = this.#changes[index]!;
      if (change.resourceVersion <= resourceVersion) return;
      yield change;
    }
  }

  /** Forgets all changes up to and including the resourceVersion. */
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
    // The array is compacted only occasionally; the entry must not keep an old object alive until then.
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

import { ItemHeap, type RankedItem } from "./item-heap.js";
import { RateLimitingQueue } from "./rate-limiting-queue.js";
import { checkItem } from "./work-queue.js";

export interface PriorityAddOptions {
  /**
   * Items of higher priority are handed out first. Default 0; for a retry of an item in processing, the priority with
   * which it was handed out.
   */
  readonly priority?: number;
  /** Delay in milliseconds. */
  readonly afterMs?: number;
  /** Delays the item as the rate limiter decides, but not longer than `afterMs`. */
  readonly rateLimited?: boolean;
}

/** Priority for items of an initial list or a resync. Such items are processed when no recently changed item waits. */
export const lowPriority = -100;

/**
 * A {@link RateLimitingQueue} that hands out items by priority, then in order of arrival. With {@link lowPriority} for
 * all items of an initial list, live changes do not wait for the rest of the list.
 *
 * An item has one entry. Adding it again merges: the higher priority and the earlier time win, so an `add` also
 * replaces a delay. An item whose priority is raised moves to the end of its new priority class.
 *
 * @see sigs.k8s.io/controller-runtime pkg/controller/priorityqueue; shutdown works as in this package's other queues.
 */
export class PriorityQueue<T> extends RateLimitingQueue<T> {
  readonly #heap = new ItemHeap<T>();
  readonly #ready = new Map<T, RankedItem<T>>();
  /** Priorities of items that are ready, wait for a delay, or were added again while in processing. */
  readonly #pendingPriorities = new Map<T, number>();
  /** Priorities with which the items in processing were handed out. */
  readonly #processingPriorities = new Map<T, number>();
  #order = 0;

  /**
   * Adds items with a priority, a delay, or both.
   *
   * @throws RangeError for a priority that is not a number or a delay that is infinite, TypeError for an item that is
   * not a primitive. Items before the invalid one are then in the queue.
   */
  addWithOptions(options: PriorityAddOptions, ...items: readonly T[]): void {
    for (const item of items) this.#addOne(item, options);
  }

  /** Adds an item with priority 0, unless its priority is higher already. */
  override add(item: T): void {
    this.#addOne(item, {});
  }

  override addAfter(item: T, delayMs: number): void {
    this.#addOne(item, { afterMs: delayMs });
  }

  override addRateLimited(item: T): void {
    this.#addOne(item, { rateLimited: true });
  }

  override done(item: T): void {
    this.#processingPriorities.delete(item);
    super.done(item);
  }

  override get length(): number {
    return this.#ready.size;
  }

  #addOne(item: T, { priority, afterMs, rateLimited = false }: PriorityAddOptions): void {
    if (this.shuttingDown) return;
    checkItem(item);
    const isRetry = rateLimited || afterMs !== undefined;
    const wanted = priority ?? (isRetry ? this.#processingPriorities.get(item) : undefined) ?? 0;
    if (Number.isNaN(wanted)) throw new RangeError(`the priority of ${String(item)} is not a number`);
    const delayMs = Math.min(afterMs ?? Infinity, rateLimited ? this.rateLimiter.when(item) : Infinity);
    if (isRetry && delayMs > 0 && (!this.#pendingPriorities.has(item) || this.isWaiting(item))) {
      super.addAfter(item, delayMs);
      this.#raise(item, wanted);
      return;
    }
    if (isRetry) this.recorder?.retried();
    this.cancelDelay(item);
    this.#raise(item, wanted);
    super.add(item);
  }

  #raise(item: T, priority: number): void {
    const known = this.#pendingPriorities.get(item);
    if (known !== undefined && known >= priority) return;
    this.#pendingPriorities.set(item, priority);
    const ready = this.#ready.get(item);
    if (ready === undefined) return;
    ready.rank = -priority;
    ready.sequence = this.#order++;
    this.#heap.moveForward(ready);
  }

  protected override onDelayPassed(item: T): void {
    super.add(item);
  }

  protected override pushReady(item: T): boolean {
    if (this.#ready.has(item)) return false;
    const entry = { item, rank: -(this.#pendingPriorities.get(item) ?? 0), sequence: this.#order++, index: 0 };
    this.#ready.set(item, entry);
    this.#heap.push(entry);
    return true;
  }

  protected override takeReady(): T {
    const { item } = this.#heap.pop()!;
    this.#ready.delete(item);
    return item;
  }

  protected override onHandedOut(item: T): void {
    this.#processingPriorities.set(item, this.#pendingPriorities.get(item) ?? 0);
    this.#pendingPriorities.delete(item);
  }
}

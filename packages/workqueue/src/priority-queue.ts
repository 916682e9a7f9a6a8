import { ItemHeap, type RankedItem } from "./item-heap.js";
import { RateLimitingQueue } from "./rate-limiting-queue.js";
import { checkItem } from "./work-queue.js";

export interface PriorityAddOptions {
  /** Higher ones are handed out first. Default 0; for a retry of an item in processing, what it was handed out with. */
  readonly priority?: number;
  /** Milliseconds to wait first. */
  readonly afterMs?: number;
  /** Wait as long as the rate limiter says, but not longer than `afterMs`. */
  readonly rateLimited?: boolean;
}

/** For what an initial list or a resync brings: it is done when nothing that has just changed waits. */
export const lowPriority = -100;

/**
 * A {@link RateLimitingQueue} that hands out what has the highest priority first, and, of equal priorities, what came
 * first: with {@link lowPriority} for everything an initial list shows, live changes need not wait for the rest of it.
 *
 * An item has one entry. Adding it again merges: the higher priority and the earlier time count, so that an `add` also
 * takes the place of a delay. One that is raised joins the end of its new priority.
 *
 * @see sigs.k8s.io/controller-runtime pkg/controller/priorityqueue; shutting down is as in the other queues here.
 */
export class PriorityQueue<T> extends RateLimitingQueue<T> {
  readonly #heap = new ItemHeap<T>();
  readonly #ready = new Map<T, RankedItem<T>>();
  /** Of items that are ready, wait for a delay, or were added again while in processing. */
  readonly #pendingPriorities = new Map<T, number>();
  /** Of items in processing, as they were handed out. */
  readonly #processingPriorities = new Map<T, number>();
  #order = 0;

  /**
   * Adds items, with a priority, a delay, or both.
   *
   * @throws RangeError for a priority that is not a number or a delay that is infinite, TypeError for an item that is not
   *   a primitive; those before it are in the queue then.
   */
  addWithOptions(options: PriorityAddOptions, ...items: readonly T[]): void {
    for (const item of items) this.#addOne(item, options);
  }

  /** With priority 0, if it has none that is higher. */
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

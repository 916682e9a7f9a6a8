import type { Timer } from "@kubewright/clock";

import { ItemHeap, type RankedItem } from "./item-heap.js";
import { WorkQueue, checkItem } from "./work-queue.js";

/**
 * A {@link WorkQueue} that can add items after a delay. Items that become ready at the same time are added in the order
 * of their {@link addAfter} calls.
 *
 * @see kubernetes v1.36 client-go util/workqueue/delaying_queue.go
 */
export class DelayingQueue<T> extends WorkQueue<T> {
  readonly #waiting = new ItemHeap<T>();
  readonly #byItem = new Map<T, RankedItem<T>>();
  #sequence = 0;
  #timer: Timer | undefined;
  #timerDueMs = Infinity;

  /**
   * Adds `item` after `delayMs` milliseconds of monotonic time, or immediately if the delay is not positive.
   *
   * Two delays of one item collapse to the earlier one. An {@link add} neither cancels a delay nor is cancelled by one:
   * the item is then processed twice. Only shutting down cancels delays; it drops all of them.
   *
   * @throws RangeError for an infinite delay, TypeError for an item that is not a primitive.
   */
  addAfter(item: T, delayMs: number): void {
    if (this.shuttingDown) return;
    this.recorder?.retried();
    if (!(delayMs > 0)) {
      this.add(item);
      return;
    }
    if (delayMs === Infinity) throw new RangeError(`the delay of ${String(item)} is infinite: it would never be added`);
    if (typeof item !== "string") checkItem(item);
    const readyAtMs = this.clock.monotonic() + delayMs;
    const waiting = this.#byItem.get(item);
    if (waiting === undefined) {
      const delayed: RankedItem<T> = { item, rank: readyAtMs, sequence: this.#sequence++, index: 0 };
      this.#byItem.set(item, delayed);
      this.#waiting.push(delayed);
    } else if (readyAtMs < waiting.rank) {
      waiting.rank = readyAtMs;
      waiting.sequence = this.#sequence++;
      this.#waiting.moveForward(waiting);
    } else {
      return;
    }
    if (readyAtMs < this.#timerDueMs) this.#arm(readyAtMs, delayMs);
  }

  /** Called for each item whose delay has passed. */
  protected onDelayPassed(item: T): void {
    this.add(item);
  }

  protected isWaiting(item: T): boolean {
    return this.#byItem.has(item);
  }

  /** Cancels the delay of an item, if it has one. */
  protected cancelDelay(item: T): void {
    const waiting = this.#byItem.get(item);
    if (waiting === undefined) return;
    this.#byItem.delete(item);
    this.#waiting.remove(waiting);
    // A timer without items would keep the process, and a simulation, running.
    if (this.#byItem.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerDueMs = Infinity;
  }

  protected override onShutDown(): void {
    this.#timer?.cancel();
    this.#waiting.clear();
    this.#byItem.clear();
  }

  #arm(dueMs: number, delayMs: number): void {
    this.#timer?.cancel();
    this.#timerDueMs = dueMs;
    this.#timer = this.clock.setTimer(delayMs, () => this.#addReady());
  }

  #addReady(): void {
    this.#timer = undefined;
    this.#timerDueMs = Infinity;
    const nowMs = this.clock.monotonic();
    for (let next = this.#waiting.peek(); next !== undefined; next = this.#waiting.peek()) {
      if (next.rank > nowMs) {
        this.#arm(next.rank, next.rank - nowMs);
        return;
      }
      this.#waiting.pop();
      this.#byItem.delete(next.item);
      this.onDelayPassed(next.item);
    }
  }
}

import type { Timer } from "@kubewright/clock";

import { DelayHeap, type DelayedItem } from "./delay-heap.js";
import { WorkQueue } from "./work-queue.js";

/**
 * A {@link WorkQueue} that can take items for later. Items that become ready at the same time are added in the order in
 * which they were asked for.
 *
 * @see kubernetes v1.36 client-go util/workqueue/delaying_queue.go
 */
export class DelayingQueue<T> extends WorkQueue<T> {
  readonly #waiting = new DelayHeap<T>();
  readonly #byItem = new Map<T, DelayedItem<T>>();
  #sequence = 0;
  #timer: Timer | undefined;
  #timerDueMs = Infinity;

  /**
   * Adds `item` after `delayMs` milliseconds of monotonic time, or at once when that is not positive.
   *
   * Two delays of one item collapse to the earlier. An {@link add} neither cancels nor is cancelled by one: the item is
   * then processed twice. There is no way to take a delay back but shutting down, which drops all.
   */
  addAfter(item: T, delayMs: number): void {
    if (this.shuttingDown) return;
    this.recorder?.retried();
    if (!(delayMs > 0)) {
      this.add(item);
      return;
    }
    const readyAtMs = this.clock.monotonic() + delayMs;
    const waiting = this.#byItem.get(item);
    if (waiting === undefined) {
      const delayed: DelayedItem<T> = { item, readyAtMs, sequence: this.#sequence++, index: 0 };
      this.#byItem.set(item, delayed);
      this.#waiting.push(delayed);
    } else if (readyAtMs < waiting.readyAtMs) {
      waiting.readyAtMs = readyAtMs;
      waiting.sequence = this.#sequence++;
      this.#waiting.broughtForward(waiting);
    } else {
      return;
    }
    if (readyAtMs < this.#timerDueMs) this.#arm(readyAtMs, delayMs);
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
      if (next.readyAtMs > nowMs) {
        this.#arm(next.readyAtMs, next.readyAtMs - nowMs);
        return;
      }
      this.#waiting.pop();
      this.#byItem.delete(next.item);
      this.add(next.item);
    }
  }
}

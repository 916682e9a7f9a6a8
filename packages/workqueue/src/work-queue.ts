import type { Clock } from "@kubewright/clock";

import { SmallSet } from "./small-set.js";
import { type QueueMetricsProvider, QueueRecorder } from "./queue-metrics.js";
import { UniqueFifo } from "./unique-fifo.js";
import { WaiterQueue } from "./waiter-queue.js";

export interface WorkQueueOptions {
  readonly clock: Clock;
  /** Label of the queue's metrics. A queue without a name has no metrics. */
  readonly name?: string | undefined;
  readonly metrics?: QueueMetricsProvider | undefined;
}

/**
 * client-go's work queue. Hands every item to at most one worker at a time, in order of arrival, and collapses repeated
 * adds of a waiting item.
 *
 * Items are compared like keys of a `Map`: use strings or other primitives. The worker has to call {@link done} for
 * each item it got. All methods are synchronous except waiting, so code between two `await`s is atomic.
 *
 * @see kubernetes v1.36 client-go util/workqueue/queue.go
 */
export class WorkQueue<T> {
  protected readonly clock: Clock;
  protected readonly recorder: QueueRecorder<T> | undefined;
  /** Items that are ready, in order of arrival. Together with {@link #dirtyInProcessing}: upstream's `dirty`. */
  readonly #queued = new UniqueFifo<T>();
  /** Items handed out and not done. Never in `#queued`. */
  readonly #processing = new SmallSet<T>();
  /** Items in processing that were added again. A separate set, so that `done` does not search a long queue. */
  readonly #dirtyInProcessing = new SmallSet<T>();
  /** Pending calls of `get`, oldest first. Empty while an item is ready. */
  readonly #getters = new WaiterQueue<(item: T | undefined) => void>();
  /** Ends the keep-alive of a pending `get` or drain. */
  #releaseProcess: (() => void) | undefined;
  #shuttingDown = false;
  #drainPromise: PromiseWithResolvers<void> | undefined;

  constructor({ clock, name = "", metrics }: WorkQueueOptions) {
    this.clock = clock;
    this.recorder = metrics === undefined || name === "" ? undefined : new QueueRecorder(clock, metrics.forQueue(name));
  }

  /**
   * Requests the processing of `item`. Has no effect if the item waits already, or after shutdown. An item in
   * processing is queued again once, at the tail, when it is {@link done}.
   *
   * @throws TypeError for an item that is not a primitive: two equal objects would count as different items.
   */
  add(item: T): void {
    if (this.#shuttingDown) return;
    if (typeof item !== "string") checkItem(item);
    if (this.#processing.size > 0 && this.#processing.has(item)) {
      if (this.#dirtyInProcessing.add(item)) this.recorder?.added(item);
    } else if (this.#getters.size > 0) {
      this.recorder?.added(item);
      this.#handToGetter(item);
    } else if (this.pushReady(item)) {
      this.recorder?.added(item);
    }
  }

  /**
   * Resolves with the next item, which belongs to the caller until {@link done}. Calls are served in order. A pending
   * call keeps the process alive.
   *
   * @returns `undefined` once the queue is shut down and empty.
   * @throws the signal's reason if it aborts first; the call has then taken no item.
   */
  get(signal?: AbortSignal): Promise<T | undefined> {
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    if (this.length > 0) return Promise.resolve(this.#handOut(this.takeReady()));
    if (this.#shuttingDown) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      if (signal === undefined) {
        this.#wait(resolve);
        return;
      }
      const onAbort = (): void => {
        this.#getters.remove(getter);
        this.#releaseProcessIfIdle();
        reject(signal.reason as Error);
      };
      const getter = (item: T | undefined): void => {
        signal.removeEventListener("abort", onAbort);
        resolve(item);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#wait(getter);
    });
  }

  /**
   * Ends the processing of an item. Has no effect for an item that was not handed out (upstream corrupts its queue).
   */
  done(item: T): void {
    if (!this.#processing.delete(item)) return;
    this.recorder?.done(item);
    if (this.#dirtyInProcessing.size > 0 && this.#dirtyInProcessing.delete(item)) {
      if (this.#getters.size > 0) this.#handToGetter(item);
      else this.pushReady(item);
    }
    if (this.#drainPromise !== undefined && this.#processing.size === 0) this.#resolveDrain();
  }

  /**
   * Number of ready items. Does not include items in processing (added again or not), nor items that wait for a delay.
   */
  get length(): number {
    return this.#queued.size;
  }

  /** Ignores all later adds. Queued items are still handed out; then `get` returns `undefined`. */
  shutDown(): void {
    this.#shutDown();
    this.#resolveDrain();
  }

  /**
   * Shuts down, and resolves when no item is in processing, or when {@link shutDown} is called. Like upstream, it does
   * not wait for queued items. Keeps the process alive meanwhile.
   */
  shutDownWithDrain(): Promise<void> {
    this.#shutDown();
    if (this.#processing.size === 0) return Promise.resolve();
    this.#drainPromise ??= Promise.withResolvers();
    this.#releaseProcess ??= this.clock.keepAlive();
    return this.#drainPromise.promise;
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown;
  }

  /** Called once, when shutdown begins, so that subclasses can drop their state. */
  protected onShutDown(): void {}

  /** Appends a ready item. Returns false if it is in the queue already. A subclass can use another order. */
  protected pushReady(item: T): boolean {
    return this.#queued.push(item);
  }

  /** Removes and returns the first item. Called only when {@link length} is not zero. */
  protected takeReady(): T {
    return this.#queued.shift();
  }

  /** Called for each item that a worker gets. */
  protected onHandedOut(_item: T): void {}

  #shutDown(): void {
    if (this.#shuttingDown) return;
    this.#shuttingDown = true;
    this.recorder?.stop();
    this.onShutDown();
    while (this.#getters.size > 0) this.#getters.shift()(undefined);
    this.#releaseProcessIfIdle();
  }

  #resolveDrain(): void {
    this.#drainPromise?.resolve();
    this.#drainPromise = undefined;
    this.#releaseProcessIfIdle();
  }

  #wait(getter: (item: T | undefined) => void): void {
    this.#getters.push(getter);
    this.#releaseProcess ??= this.clock.keepAlive();
  }

  #releaseProcessIfIdle(): void {
    if (this.#getters.size > 0 || this.#drainPromise !== undefined) return;
    this.#releaseProcess?.();
    this.#releaseProcess = undefined;
  }

  /** Hands an item to the first pending `get`. There must be one. */
  #handToGetter(item: T): void {
    const getter = this.#getters.shift();
    this.#releaseProcessIfIdle();
    // The item is in processing before the continuation of `get` runs: an `add` in between has to find it in
    // processing.
    getter(this.#handOut(item));
  }

  #handOut(item: T): T {
    this.#processing.add(item);
    this.onHandedOut(item);
    this.recorder?.got(item);
    return item;
  }
}

/** @throws TypeError for items without a value identity, and for `undefined`, which marks the end of the queue. */
export function checkItem(item: unknown): void {
  if (typeof item === "object" || typeof item === "function" || item === undefined) {
    const what =
      item === null || item === undefined ? String(item) : typeof item === "object" ? "an object" : "a function";
    throw new TypeError(`a queue takes strings or other primitives, not ${what}: give it the object's key`);
  }
}

import type { Clock } from "@kubewright/clock";

import { SmallSet } from "./small-set.js";
import { type QueueMetricsProvider, QueueRecorder } from "./queue-metrics.js";
import { UniqueFifo } from "./unique-fifo.js";
import { WaiterQueue } from "./waiter-queue.js";

export interface WorkQueueOptions {
  readonly clock: Clock;
  /** Label of the queue's metrics. A queue without a name has none. */
  readonly name?: string | undefined;
  readonly metrics?: QueueMetricsProvider | undefined;
}

/**
 * client-go's work queue: hands every item to at most one worker at a time, in order of arrival, and collapses whatever
 * is added while the item waits.
 *
 * Items are told apart as in a `Map`: use strings or other primitives. Each item got must be given back with
 * {@link done}. Everything but waiting is synchronous, so what happens between two `await`s is atomic.
 *
 * @see kubernetes v1.36 client-go util/workqueue/queue.go
 */
export class WorkQueue<T> {
  protected readonly clock: Clock;
  protected readonly recorder: QueueRecorder<T> | undefined;
  /** Items ready, in order of arrival. With the items in {@link #again}, upstream's `dirty`. */
  readonly #queued = new UniqueFifo<T>();
  /** Items handed out and not done. Never queued. */
  readonly #processing = new SmallSet<T>();
  /** Those in processing that were added again: kept apart, so that `done` need not look into a long queue. */
  readonly #dirtyInProcessing = new SmallSet<T>();
  /** Waiting calls of `get`, oldest first. None waits while something is ready. */
  readonly #getters = new WaiterQueue<(item: T | undefined) => void>();
  /** Lets the process go that somebody who waits here keeps alive. */
  #releaseProcess: (() => void) | undefined;
  #shuttingDown = false;
  #drainPromise: PromiseWithResolvers<void> | undefined;

  constructor({ clock, name = "", metrics }: WorkQueueOptions) {
    this.clock = clock;
    this.recorder = metrics === undefined || name === "" ? undefined : new QueueRecorder(clock, metrics.forQueue(name));
  }

  /**
   * Asks for `item` to be processed. Does nothing while it waits already, or after shutdown. An item in processing is
   * queued again, at the tail, once, when it is {@link done}.
   *
   * @throws TypeError for an item that is not a primitive: two equal ones would be taken for different items.
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
   * The next item, which is the caller's until {@link done}. Calls are served in order. A call that waits keeps the
   * process alive.
   *
   * @returns `undefined` once the queue was shut down and is empty.
   * @throws the signal's reason when it aborts first; the call then has taken nothing.
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

  /** Ends the processing of an item. Ignored for one that was not handed out (where upstream corrupts its queue). */
  done(item: T): void {
    if (!this.#processing.delete(item)) return;
    this.recorder?.done(item);
    if (this.#dirtyInProcessing.size > 0 && this.#dirtyInProcessing.delete(item)) {
      if (this.#getters.size > 0) this.#handToGetter(item);
      else this.pushReady(item);
    }
    if (this.#drainPromise !== undefined && this.#processing.size === 0) this.#resolveDrain();
  }

  /** Items ready to be got. Leaves out those in processing (added again or not) and those waiting for a delay. */
  get length(): number {
    return this.#queued.size;
  }

  /** Ignores everything added from now on. What is queued is still handed out; then `get` answers `undefined`. */
  shutDown(): void {
    this.#shutDown();
    this.#resolveDrain();
  }

  /**
   * Shuts down, and resolves when nothing is in processing (or {@link shutDown} is called). Like upstream it does not
   * wait for items nobody has taken yet. Keeps the process alive meanwhile.
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

  /** Called once, when shutdown begins: subclasses let go of what they hold. */
  protected onShutDown(): void {}

  /** Lines an item up. Answers whether it was not there before. A subclass may keep another order. */
  protected pushReady(item: T): boolean {
    return this.#queued.push(item);
  }

  /** Takes the first item out; called only when {@link length} is not zero. */
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

  /** Only when one waits. */
  #handToGetter(item: T): void {
    const getter = this.#getters.shift();
    this.#releaseProcessIfIdle();
    // In processing before the getter's continuation runs: an `add` in between must see the item as taken.
    getter(this.#handOut(item));
  }

  #handOut(item: T): T {
    this.#processing.add(item);
    this.onHandedOut(item);
    this.recorder?.got(item);
    return item;
  }
}

/** @throws TypeError when items like this one cannot be told apart, or look like the end of the queue. */
export function checkItem(item: unknown): void {
  if (typeof item === "object" || typeof item === "function" || item === undefined) {
    const what =
      item === null || item === undefined ? String(item) : typeof item === "object" ? "an object" : "a function";
    throw new TypeError(`a queue takes strings or other primitives, not ${what}: give it the object's key`);
  }
}

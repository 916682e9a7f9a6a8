import type { ObjectKey } from "@kubewright/api";
import { errorMessage } from "@kubewright/client";
import { type Clock, type Logger, standardErrorLogger } from "@kubewright/clock";
import type { RateLimitingQueue } from "@kubewright/workqueue";

import type { Runnable } from "./runnable.js";
import { TerminalError } from "./terminal-error.js";

export interface ReconcileResult {
  /** Look at the key again after this many milliseconds, whatever happens until then; at once if not positive. NaN and infinity are errors. */
  readonly requeueAfterMs?: number;
  /** Leave the key's failure count as it is: this was neither a success nor a failure. Default false. */
  readonly keepFailures?: boolean;
}

/**
 * Brings one object to where it should be. Never runs twice at once for one key. Throws to be tried again with back-off,
 * {@link TerminalError} not to be.
 */
export type Reconcile = (key: ObjectKey, signal: AbortSignal) => Promise<ReconcileResult | void>;

export interface ReconcileLoopOptions {
  readonly name: string;
  /** Belongs to the loop: it is shut down when the loop stops. */
  readonly queue: RateLimitingQueue<ObjectKey>;
  readonly reconcile: Reconcile;
  /** How many keys are worked on at once. */
  readonly workers: number;
  readonly clock: Clock;
  /** Told of every reconcile that fails. Default: standard error, the same failure of a key once a minute. */
  readonly logger?: Logger;
  /** Awaited before the first key is taken, typically the caches' first sync. May reject when the signal aborts. */
  readonly waitForSync?: (signal: AbortSignal) => Promise<void>;
  /** What the log says when a reconcile fails. Default `Reconciling failed`. */
  readonly describeError?: string;
}

/** So many milliseconds of reconciling, then sockets and timers get their turn. Waiting for a key does not count. */
const LONGEST_STRETCH_MS = 5;

/**
 * Takes keys from a work queue and reconciles them: the worker contract every controller shares.
 *
 * Success forgets the key's failures; an error adds it again with back-off; a {@link TerminalError} drops it. When the
 * signal aborts, reconciles under way finish (they are handed the same signal), queued keys stay undone, and `run`
 * resolves. Keeps the process alive while it runs. Upstream: `runWorker` / `processNextWorkItem` in kubernetes/pkg/controller.
 */
export class ReconcileLoop implements Runnable {
  readonly name: string;
  readonly #queue: RateLimitingQueue<ObjectKey>;
  readonly #reconcile: Reconcile;
  readonly #workers: number;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #waitForSync: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly #describeError: string;
  /** Spent on reconciling since others had their turn. */
  #stretchMs = 0;
  #started = false;

  /** @throws RangeError when the number of workers is not a whole number from 1 on. */
  constructor(options: ReconcileLoopOptions) {
    if (!(Number.isSafeInteger(options.workers) && options.workers >= 1))
      throw new RangeError(`${options.name}: workers must be a whole number from 1 on, not ${options.workers}`);
    this.name = options.name;
    this.#queue = options.queue;
    this.#reconcile = options.reconcile;
    this.#workers = options.workers;
    this.#clock = options.clock;
    this.#logger = options.logger ?? standardErrorLogger(options.clock, options.name);
    this.#waitForSync = options.waitForSync;
    this.#describeError = options.describeError ?? "Reconciling failed";
  }

  /** @throws Error when called a second time, since its queue is shut down by the first; or what `waitForSync` throws. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#started) throw new Error(`${this.name} was run already: make a new loop, with a queue of its own`);
    this.#started = true;
    const release = this.#clock.keepAlive();
    try {
      await this.#runUntil(signal);
    } finally {
      release();
    }
  }

  async #runUntil(signal: AbortSignal): Promise<void> {
    const shutDown = (): void => this.#queue.shutDown();
    if (signal.aborted) return shutDown();
    signal.addEventListener("abort", shutDown, { once: true });
    try {
      await this.#waitForSync?.(signal);
    } catch (error) {
      if (signal.aborted) return;
      signal.removeEventListener("abort", shutDown);
      shutDown();
      throw error;
    }
    await Promise.all(Array.from({ length: this.#workers }, () => this.#work(signal)));
    signal.removeEventListener("abort", shutDown);
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (;;) {
      const key = await this.#queue.get();
      if (key === undefined) return;
      // Stopping leaves what is queued undone.
      if (signal.aborted) return this.#queue.done(key);
      const startMs = this.#clock.monotonic();
      try {
        this.#succeeded(key, await this.#reconcile(key, signal));
      } catch (error) {
        this.#failed(key, error, signal);
      } finally {
        // Last: with `done` first, another worker could begin the key before its back-off was recorded.
        this.#queue.done(key);
      }
      this.#stretchMs += this.#clock.monotonic() - startMs;
      if (this.#stretchMs >= LONGEST_STRETCH_MS) await this.#letOthersGo();
    }
  }

  #succeeded(key: ObjectKey, result: ReconcileResult | void): void {
    const requeueAfterMs = result?.requeueAfterMs;
    if (requeueAfterMs !== undefined && !(requeueAfterMs < Number.POSITIVE_INFINITY))
      throw new RangeError(`reconcile answered with a requeueAfterMs of ${requeueAfterMs}`);
    if (result?.keepFailures !== true) this.#queue.forget(key);
    if (requeueAfterMs !== undefined) this.#queue.addAfter(key, requeueAfterMs);
  }

  #failed(key: ObjectKey, error: unknown, signal: AbortSignal): void {
    const willRetry = !(error instanceof TerminalError);
    if (willRetry) this.#queue.addRateLimited(key);
    else this.#queue.forget(key);
    if (!signal.aborted)
      this.#logger.error({ controller: this.name, key, err: errorMessage(error), willRetry }, this.#describeError);
  }

  /** Reconciles served from caches alone never leave the promise queue: without this they would starve sockets and timers. */
  async #letOthersGo(): Promise<void> {
    this.#stretchMs = 0;
    await this.#clock.turn();
  }
}

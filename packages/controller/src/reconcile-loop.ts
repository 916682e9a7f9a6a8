import type { ObjectKey } from "@kubewright/api";
import { errorMessage } from "@kubewright/client";
import { type Clock, type Logger, standardErrorLogger } from "@kubewright/clock";
import type { RateLimitingQueue } from "@kubewright/workqueue";

import type { Runnable } from "./runnable.js";
import { STOP_TIMEOUT_MS, StopTimeoutError, withStopDeadline } from "./stop-deadline.js";
import { TerminalError } from "./terminal-error.js";

export interface ReconcileResult {
  /**
   * Adds the key again after this many milliseconds, independent of other events; immediately if not positive. NaN and
   * infinity are errors.
   */
  readonly requeueAfterMs?: number;
  /** Keeps the key's failure count: the reconcile was neither a success nor a failure. Default false. */
  readonly keepFailures?: boolean;
}

/**
 * Reconciles one object. Never runs concurrently for the same key. An error is retried with backoff, except a {@link
 * TerminalError}.
 */
export type Reconcile<Key extends string = ObjectKey> = (
  key: Key,
  signal: AbortSignal,
) => Promise<ReconcileResult | void>;

export interface ReconcileLoopOptions<Key extends string = ObjectKey> {
  readonly name: string;
  /** Owned by the loop, which shuts it down when it stops. */
  readonly queue: RateLimitingQueue<Key>;
  readonly reconcile: Reconcile<Key>;
  /** Number of keys reconciled concurrently. */
  readonly workers: number;
  readonly clock: Clock;
  /** Logs every failed reconcile. Default: standard error, the same failure of a key at most once a minute. */
  readonly logger?: Logger;
  /** Called with the error of every failed reconcile. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /**
   * Awaited before the first key is reconciled, typically the initial sync of the caches. An abort of the signal ends
   * the wait.
   */
  readonly waitForSync?: (signal: AbortSignal) => Promise<void>;
  /**
   * Milliseconds that reconciles in progress may take to end after the signal aborts; may be infinite. Default 30,000.
   */
  readonly stopTimeoutMs?: number | undefined;
  /** Log message for a failed reconcile. Default `Reconciling failed`. */
  readonly describeError?: string;
}

/** Milliseconds of reconciling after which the loop yields to sockets and timers. Waiting for a key does not count. */
const YIELD_AFTER_MS = 5;
/** Maximum number of keys in a message. */
const MAX_KEYS_NAMED = 10;

/**
 * Takes keys from a work queue and reconciles them: the worker contract that all controllers share.
 *
 * - A success resets the key's failure count.
 * - An error adds the key again with backoff.
 * - A {@link TerminalError} drops the key.
 *
 * When the signal aborts, reconciles in progress finish (they receive the same signal), queued keys remain undone, and
 * `run` resolves. A reconcile that does not finish in time is abandoned, and `run` rejects. The loop keeps the process
 * alive while it runs. Keys are any strings that identify objects; most are object keys.
 *
 * Upstream: `runWorker` / `processNextWorkItem` in kubernetes/pkg/controller.
 */
export class ReconcileLoop<Key extends string = ObjectKey> implements Runnable {
  readonly name: string;
  readonly #queue: RateLimitingQueue<Key>;
  readonly #reconcile: Reconcile<Key>;
  readonly #workers: number;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #waitForSync: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly #describeError: string;
  readonly #onFailure: ((error: unknown) => void) | undefined;
  readonly #stopTimeoutMs: number;
  /** Indexed by worker. */
  readonly #keysInProgress: (Key | undefined)[] = [];
  /** Milliseconds spent on reconciling since the last yield. */
  #busyMs = 0;
  #started = false;

  /** @throws RangeError when the number of workers is not an integer of at least 1. */
  constructor(options: ReconcileLoopOptions<Key>) {
    if (!(Number.isSafeInteger(options.workers) && options.workers >= 1))
      throw new RangeError(`${options.name}: workers must be a whole number from 1 on, not ${options.workers}`);
    this.name = options.name;
    this.#queue = options.queue;
    this.#reconcile = options.reconcile;
    this.#workers = options.workers;
    this.#clock = options.clock;
    this.#logger = options.logger ?? standardErrorLogger(options.clock, options.name);
    this.#waitForSync = options.waitForSync;
    this.#onFailure = options.onFailure;
    this.#describeError = options.describeError ?? "Reconciling failed";
    this.#stopTimeoutMs = options.stopTimeoutMs ?? STOP_TIMEOUT_MS;
    if (!(this.#stopTimeoutMs >= 0))
      throw new RangeError(`${options.name}: stopTimeoutMs must be a number from 0 on, not ${options.stopTimeoutMs}`);
  }

  /**
   * Runs until the signal aborts.
   *
   * @throws Error when called a second time, because the first run shuts the queue down; the error of `waitForSync`;
   * {@link StopTimeoutError}, which names the abandoned keys.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#started) throw new Error(`${this.name} was run already: create a new loop with a new queue`);
    this.#started = true;
    const release = this.#clock.keepAlive();
    const shutDown = (): void => this.#queue.shutDown();
    signal.addEventListener("abort", shutDown, { once: true });
    try {
      if (!(await this.#waitUntilSynced(signal))) return;
      const working = Promise.all(
        Array.from({ length: this.#workers }, (_, worker) => this.#runWorker(worker, signal)),
      );
      await withStopDeadline(working, {
        clock: this.#clock,
        signal,
        limitMs: this.#stopTimeoutMs,
        unfinished: () => `${this.name}: reconciling ${this.#describeActiveKeys()}`,
      });
    } catch (error) {
      if (error instanceof StopTimeoutError)
        this.#logger.error({ controller: this.name, keys: this.#activeKeys() }, error.message);
      throw error;
    } finally {
      signal.removeEventListener("abort", shutDown);
      shutDown();
      release();
    }
  }

  /** Returns whether the loop may start to reconcile; false when the signal aborts first. */
  async #waitUntilSynced(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#waitForSync === undefined) return true;
    const aborted = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => aborted.resolve(), { once: true });
    try {
      await Promise.race([this.#waitForSync(signal), aborted.promise]);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return !signal.aborted;
  }

  #activeKeys(): Key[] {
    return this.#keysInProgress.filter((key) => key !== undefined);
  }

  #describeActiveKeys(): string {
    const keys = this.#activeKeys();
    const more = keys.length - MAX_KEYS_NAMED;
    return `${keys.slice(0, MAX_KEYS_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  }

  async #runWorker(worker: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      const key = await this.#queue.get();
      if (key === undefined) return;
      // Queued keys remain undone after a stop.
      if (signal.aborted) return this.#queue.done(key);
      const startMs = this.#clock.monotonic();
      this.#keysInProgress[worker] = key;
      try {
        this.#handleSuccess(key, await this.#reconcile(key, signal));
      } catch (error) {
        this.#handleFailure(key, error, signal);
      } finally {
        this.#keysInProgress[worker] = undefined;
        // Must be last: if `done` came first, another worker could start the key before its backoff was recorded.
        this.#queue.done(key);
      }
      this.#busyMs += this.#clock.monotonic() - startMs;
      if (this.#busyMs >= YIELD_AFTER_MS) await this.#yieldToEventLoop();
    }
  }

  #handleSuccess(key: Key, result: ReconcileResult | void): void {
    const requeueAfterMs = result?.requeueAfterMs;
    if (requeueAfterMs !== undefined && !(requeueAfterMs < Number.POSITIVE_INFINITY))
      throw new RangeError(`reconcile answered with a requeueAfterMs of ${requeueAfterMs}`);
    if (result?.keepFailures !== true) this.#queue.forget(key);
    if (requeueAfterMs !== undefined) this.#queue.addAfter(key, requeueAfterMs);
  }

  #handleFailure(key: Key, error: unknown, signal: AbortSignal): void {
    const willRetry = !(error instanceof TerminalError);
    if (willRetry) this.#queue.addRateLimited(key);
    else this.#queue.forget(key);
    this.#onFailure?.(error);
    if (!signal.aborted)
      this.#logger.error({ controller: this.name, key, err: errorMessage(error), willRetry }, this.#describeError);
  }

  /**
   * Yields to the event loop. Reconciles that only read caches never leave the microtask queue, so sockets and timers
   * would starve.
   */
  async #yieldToEventLoop(): Promise<void> {
    this.#busyMs = 0;
    await this.#clock.yieldToEventLoop();
  }
}

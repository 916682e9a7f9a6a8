import type { ObjectKey } from "@kubewright/api";
import { errorMessage } from "@kubewright/client";
import { type Clock, type Logger, standardErrorLogger } from "@kubewright/clock";
import type { RateLimitingQueue } from "@kubewright/workqueue";

import type { Runnable } from "./runnable.js";
import { STOP_TIMEOUT_MS, StopTimeoutError, withStopDeadline } from "./stop-deadline.js";
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
export type Reconcile<Key extends string = ObjectKey> = (
  key: Key,
  signal: AbortSignal,
) => Promise<ReconcileResult | void>;

export interface ReconcileLoopOptions<Key extends string = ObjectKey> {
  readonly name: string;
  /** Belongs to the loop: it is shut down when the loop stops. */
  readonly queue: RateLimitingQueue<Key>;
  readonly reconcile: Reconcile<Key>;
  /** How many keys are worked on at once. */
  readonly workers: number;
  readonly clock: Clock;
  /** Told of every reconcile that fails. Default: standard error, the same failure of a key once a minute. */
  readonly logger?: Logger;
  /** Told of every reconcile that fails, with what it threw. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Awaited before the first key is taken, typically the caches' first sync. Not waited for once the signal aborted. */
  readonly waitForSync?: (signal: AbortSignal) => Promise<void>;
  /**
   * How long reconciles under way may take to end when the signal aborts, in milliseconds; may be infinite. Default 30,000.
   */
  readonly stopTimeoutMs?: number | undefined;
  /** What the log says when a reconcile fails. Default `Reconciling failed`. */
  readonly describeError?: string;
}

/** So many milliseconds of reconciling, then sockets and timers get their turn. Waiting for a key does not count. */
const YIELD_AFTER_MS = 5;
/** Keys that a message names. */
const MAX_KEYS_NAMED = 10;

/**
 * Takes keys from a work queue and reconciles them: the worker contract every controller shares.
 *
 * Success forgets the key's failures; an error adds it again with back-off; a {@link TerminalError} drops it. When the
 * signal aborts, reconciles under way finish (they are handed the same signal), queued keys stay undone, and `run`
 * resolves. One that does not finish in time is left behind, and `run` rejects. Keeps the process alive while it runs.
 * Keys are strings of any kind that tells its objects apart; most are those of objects.
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
  /** By worker. */
  readonly #keysInProgress: (Key | undefined)[] = [];
  /** Spent on reconciling since others had their turn. */
  #busyMs = 0;
  #started = false;

  /** @throws RangeError when the number of workers is not a whole number from 1 on. */
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
   * @throws Error when called a second time, since its queue is shut down by the first; what `waitForSync` throws; or
   *   {@link StopTimeoutError}, which names the keys that were left behind.
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

  /** Answers whether there is work to be done: not when the signal aborts first. */
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
      // Stopping leaves what is queued undone.
      if (signal.aborted) return this.#queue.done(key);
      const startMs = this.#clock.monotonic();
      this.#keysInProgress[worker] = key;
      try {
        this.#handleSuccess(key, await this.#reconcile(key, signal));
      } catch (error) {
        this.#handleFailure(key, error, signal);
      } finally {
        this.#keysInProgress[worker] = undefined;
        // Last: with `done` first, another worker could begin the key before its back-off was recorded.
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

  /** Reconciles served from caches alone never leave the promise queue: without this they would starve sockets and timers. */
  async #yieldToEventLoop(): Promise<void> {
    this.#busyMs = 0;
    await this.#clock.yieldToEventLoop();
  }
}

import type { ObjectKey } from "@kubewright/api";
import type { Clock, Timer } from "@kubewright/clock";
import type { RateLimitingQueue } from "@kubewright/workqueue";

/** Upstream: job_controller.go SyncJobBatchPeriod. */
export const SYNC_BATCH_PERIOD_MS = 1_000;

/** Batches events that arrive in large numbers (pod events, status writes), so that one sync handles many of them. */
export interface SyncBatches {
  /** Schedules a sync after a change of the Job. */
  add(key: ObjectKey): void;
  /**
   * Cancels the batch of a Job that needs no sync any more. @returns False when a sync is in progress or scheduled by
   * the queue.
   */
  cancel(key: ObjectKey): boolean;
  /** Runs a sync of the Job, from before its first read until its last write or its failure. */
  runSync<T>(key: ObjectKey, sync: () => Promise<T>): Promise<T>;
  /** Cancels all batches that are not in the queue yet. */
  stop(): void;
}

/** Same as upstream: a Job is synced a fixed time after the first event. */
export class FixedBatches implements SyncBatches {
  readonly #queue: RateLimitingQueue<ObjectKey>;
  readonly #periodMs: number;

  constructor({ queue, periodMs }: { queue: RateLimitingQueue<ObjectKey>; periodMs: number }) {
    this.#queue = queue;
    this.#periodMs = periodMs;
  }

  add(key: ObjectKey): void {
    this.#queue.addAfter(key, this.#periodMs);
  }

  cancel(): boolean {
    return false;
  }

  runSync<T>(_key: ObjectKey, sync: () => Promise<T>): Promise<T> {
    return sync();
  }

  stop(): void {}
}

export interface AdaptiveBatchesOptions {
  readonly queue: RateLimitingQueue<ObjectKey>;
  readonly clock: Clock;
  /** Whether the caches show that no event of the Job is expected before its next sync. */
  readonly isQuiet: (key: ObjectKey) => boolean;
  /**
   * Does all that a sync would do for a Job that has ended according to the cache. @returns False for any other Job.
   */
  readonly forgetEnded: (key: ObjectKey) => boolean;
  /** Maximum batch period. Default {@link SYNC_BATCH_PERIOD_MS}. */
  readonly periodMs?: number;
}

/**
 * Batches events for the period from the first event, or until the Job is quiet, when no further event is expected. The
 * sync then reads the same state as at the end of the period. It causes no more writes than a fixed period, only
 * earlier ones.
 *
 * A sync in progress does not handle events that arrive meanwhile, including the events of its writes. Quiet is checked
 * again when the sync has ended. After a failure the queue schedules the next sync: it uses the earlier of the period
 * and the backoff.
 */
export class AdaptiveBatches implements SyncBatches {
  readonly #queue: RateLimitingQueue<ObjectKey>;
  readonly #clock: Clock;
  readonly #isQuiet: (key: ObjectKey) => boolean;
  readonly #forgetEnded: (key: ObjectKey) => boolean;
  readonly #periodMs: number;
  /** Timers of open batches. */
  readonly #open = new Map<ObjectKey, Timer>();
  readonly #syncing = new Set<ObjectKey>();

  constructor({ queue, clock, isQuiet, forgetEnded, periodMs = SYNC_BATCH_PERIOD_MS }: AdaptiveBatchesOptions) {
    this.#queue = queue;
    this.#clock = clock;
    this.#isQuiet = isQuiet;
    this.#forgetEnded = forgetEnded;
    this.#periodMs = periodMs;
  }

  add(key: ObjectKey): void {
    if (this.#queue.numRequeues(key) > 0) return this.#queue.addAfter(key, this.#periodMs);
    if (!this.#syncing.has(key) && this.#isQuiet(key)) return this.#close(key);
    if (this.#open.has(key)) return;
    const timer = this.#clock.setTimer(this.#periodMs, () => this.#close(key));
    this.#open.set(key, timer);
  }

  cancel(key: ObjectKey): boolean {
    if (this.#syncing.has(key) || this.#queue.numRequeues(key) > 0) return false;
    this.#drop(key);
    return true;
  }

  async runSync<T>(key: ObjectKey, sync: () => Promise<T>): Promise<T> {
    // The sync has not read anything yet: it will handle the batched events.
    this.#drop(key);
    this.#syncing.add(key);
    let outcome: "success" | "error" = "error";
    try {
      const result = await sync();
      outcome = "success";
      return result;
    } finally {
      this.#syncing.delete(key);
      if (this.#open.has(key)) this.#finishBatch(key, outcome);
    }
  }

  stop(): void {
    for (const timer of this.#open.values()) timer.cancel();
    this.#open.clear();
  }

  /** Handles the events batched during a sync, when that sync has ended. */
  #finishBatch(key: ObjectKey, outcome: "success" | "error"): void {
    if (outcome === "error") {
      this.#drop(key);
      this.#queue.addAfter(key, this.#periodMs);
    } else if (this.#forgetEnded(key)) this.#drop(key);
    else if (this.#isQuiet(key)) this.#close(key);
  }

  #close(key: ObjectKey): void {
    this.#drop(key);
    this.#queue.add(key);
  }

  #drop(key: ObjectKey): void {
    const timer = this.#open.get(key);
    if (timer === undefined) return;
    timer.cancel();
    this.#open.delete(key);
  }
}

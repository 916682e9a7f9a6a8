import type { ObjectKey } from "@kubewright/api";
import type { Clock, Timer } from "@kubewright/clock";
import type { RateLimitingQueue } from "@kubewright/workqueue";

/** Upstream: job_controller.go SyncJobBatchPeriod. */
export const SYNC_BATCH_PERIOD_MS = 1_000;

/** Gathers events that come in numbers (of pods, of status writes), so that one sync answers many of them. */
export interface SyncBatches {
  /** Something changed about the Job: it is to be synced before long. */
  add(key: ObjectKey): void;
  /** Drops what is gathered for a Job that needs no sync any more. @returns False when one is under way, or due, all the same. */
  cancel(key: ObjectKey): boolean;
  /** Performs a sync of the Job, from before it reads anything until it has written everything, or has failed. */
  runSync<T>(key: ObjectKey, sync: () => Promise<T>): Promise<T>;
  /** Drops what has not been handed to the queue yet. */
  stop(): void;
}

/** As upstream: a Job is synced a fixed time after the first event. */
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
  /** Whether, as far as the caches tell, no event of the Job will come before its next sync. */
  readonly isQuiet: (key: ObjectKey) => boolean;
  /** Does all that a sync would do about a Job that has ended, as the cache shows. @returns False for any other. */
  readonly forgetEnded: (key: ObjectKey) => boolean;
  /** Longest that events are gathered. Default {@link SYNC_BATCH_PERIOD_MS}. */
  readonly periodMs?: number;
}

/**
 * Batches only as long as it pays: the period from the first event, or until the Job is quiet, when
 * waiting could gather nothing more. The sync then sees what it would have seen at the end of the period, so it writes
 * no more than a fixed period makes it write; it is only earlier.
 *
 * A sync under way answers nothing that comes meanwhile: its own writes are among it. Quiet is asked for again once it
 * has ended. When it failed, the queue times what comes next: it takes the earlier of the period and the back-off.
 */
export class AdaptiveBatches implements SyncBatches {
  readonly #queue: RateLimitingQueue<ObjectKey>;
  readonly #clock: Clock;
  readonly #isQuiet: (key: ObjectKey) => boolean;
  readonly #forgetEnded: (key: ObjectKey) => boolean;
  readonly #periodMs: number;
  /** Batches that gather, by the timers that end them. */
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
    // The sync has read nothing yet: it will answer what is gathered.
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

  /** What was gathered during a sync has waited for its end. */
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

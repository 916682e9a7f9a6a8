import type { Clock } from "@kubewright/clock";
import type { Transport } from "@kubewright/transport";

import type { Bucket } from "./bucket.js";
import { BucketFence, type FenceReason } from "./bucket-fence.js";
import type { NamespacePart } from "./layout.js";
import type { ShardTiming } from "./timing.js";

/** An owned bucket, as its work receives it. */
export interface BucketWork {
  readonly bucket: Bucket;
  /** `07`, `cluster`, or `batch/0`. */
  readonly name: string;
  /** Set for a part of a split namespace: the caches contain the whole namespace, the work handles only this part. */
  readonly part?: NamespacePart;
  readonly epoch: number;
  /**
   * Every write of the former owner is older than this resourceVersion.
   *
   * Fill the caches of the bucket by lists that are at least as new: without a resourceVersion, or not older than this
   * one (informers with `consistentFirstList`). A list at "0" may lack the last writes of the former owner, and the work
   * would repeat them.
   */
  readonly notBefore: string;
  /**
   * The only transport that the work may write with. It rejects writes before {@link opened} and after the bucket is
   * released.
   */
  readonly transport: Transport;
  /** Call it when all caches of the bucket have synced: writes are allowed from then on. */
  readonly opened: () => void;
}

/**
 * Works for a bucket until the signal aborts, then finishes what is in flight and resolves. No state may survive it. If
 * it settles earlier, the bucket is released and another member tries. After a LeaseLostError, any member may try.
 */
export type RunBucket = (work: BucketWork, signal: AbortSignal) => Promise<void>;

/**
 * `starting`: caches sync. `active`: writes are allowed. `draining`: work in flight finishes. `drained`: it can be
 * released.
 */
export type BucketState = "starting" | "active" | "draining" | "drained";

export interface OwnedBucketOptions {
  readonly bucket: Bucket;
  readonly name: string;
  readonly part: NamespacePart | undefined;
  readonly epoch: number;
  readonly notBefore: string;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly timing: ShardTiming;
  readonly holdsLease: () => boolean;
  readonly onRefused: (reason: FenceReason) => void;
  /** Called when the state changes. */
  readonly onChange: () => void;
}

/** A bucket from acquire to release. */
export class OwnedBucket {
  readonly bucket: Bucket;
  readonly epoch: number;
  readonly acquiredMs: number;
  readonly #options: OwnedBucketOptions;
  readonly #fence: BucketFence;
  readonly #stop = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  #state: BucketState = "starting";
  #failure: Error | undefined;

  constructor(options: OwnedBucketOptions) {
    this.bucket = options.bucket;
    this.epoch = options.epoch;
    this.acquiredMs = options.clock.monotonic();
    this.#options = options;
    const { transport, clock, holdsLease, onRefused } = options;
    const { requestTimeoutMs, leaseDurationMs, renewDeadlineMs } = options.timing;
    this.#fence = new BucketFence({
      transport,
      clock,
      requestTimeoutMs,
      // As long as other members wait for the writes of an expired member.
      maxWriteDelayMs: leaseDurationMs - renewDeadlineMs,
      holdsLease,
      onRefused,
    });
  }

  get state(): BucketState {
    return this.#state;
  }

  /** Why the bucket is released although no release was planned. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  start(runBucket: RunBucket): void {
    const { bucket, name, part, epoch, clock, timing, notBefore, onChange } = this.#options;
    const syncTimer = clock.setTimer(
      timing.syncMs,
      () => this.#fail(new Error(`not synced after ${timing.syncMs} ms`)),
      {
        background: true,
      },
    );
    const opened = (): void => {
      syncTimer.cancel();
      if (this.#state !== "starting") return;
      this.#fence.open();
      this.#state = "active";
      onChange();
    };
    const { transport } = this.#fence;
    const work = { bucket, name, ...(part === undefined ? {} : { part }), epoch, notBefore, transport, opened };
    const run = async (): Promise<void> => runBucket(work, this.#stop.signal);
    run()
      .then(
        () => this.#fail(new Error("its work ended by itself")),
        (error: unknown) => this.#fail(error as Error),
      )
      .finally(() => {
        syncTimer.cancel();
        this.#ended.resolve();
      });
  }

  /** Ends the work. Resolves when no write of it can take effect any more. */
  async drain(): Promise<void> {
    if (this.#state === "draining" || this.#state === "drained") return;
    this.#state = "draining";
    this.#stop.abort(new Error("the bucket is being released"));
    const { clock, timing, onChange } = this.#options;
    const cutOff = new AbortController();
    const timeout = clock.sleep(timing.drainMs, cutOff.signal, { background: true }).catch(() => undefined);
    await Promise.race([this.#ended.promise, timeout]);
    cutOff.abort();
    this.#fence.close();
    await this.#fence.settled();
    this.#state = "drained";
    onChange();
  }

  /** Ends the work immediately: another member may own the bucket. */
  abandon(): void {
    this.#state = "drained";
    this.#fence.close();
    this.#stop.abort(new Error("the bucket was lost"));
  }

  #fail(error: Error): void {
    if (this.#stop.signal.aborted || this.#failure !== undefined) return;
    this.#failure = error;
    void this.drain();
    this.#options.onChange();
  }
}

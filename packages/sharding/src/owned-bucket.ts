import type { Clock } from "@kubewright/clock";
import type { Transport } from "@kubewright/transport";

import type { Bucket } from "./bucket.js";
import { BucketFence, type FenceReason } from "./bucket-fence.js";
import type { NamespacePart } from "./layout.js";
import type { Mutation } from "./mutation.js";
import type { ShardTiming } from "./timing.js";

/** A bucket that this member has: what the work for it needs to know. */
export interface BucketWork {
  readonly bucket: Bucket;
  /** `07`, `cluster`, or `batch/0`. */
  readonly name: string;
  /** Set when the bucket is a part of a namespace that is split: of the whole of what its caches show, only that part is its work. */
  readonly part?: NamespacePart;
  readonly epoch: number;
  /**
   * A resourceVersion that every write of the former owner is older than. Caches of the bucket have to be filled by lists that
   * are at least as new: without a resourceVersion, or not older than this one (informers with `startsConsistent`). A list at
   * "0" may lack what the former owner did last, and would have it done again.
   */
  readonly notBefore: string;
  /** The only way by which the work may write. Writes are refused before {@link opened} and when the bucket was given up. */
  readonly transport: Transport;
  /** To be called when all caches of the bucket have synced: from now on writes pass. */
  readonly opened: () => void;
}

/**
 * Works for a bucket until the signal aborts, then finishes what was begun and resolves: nothing of it is left, and nothing that
 * it learned is used again. If it ends before, another member is to try.
 */
export type RunBucket = (work: BucketWork, signal: AbortSignal) => Promise<void>;

/** `starting`: it syncs. `active`: it writes. `draining`: what was begun ends. `drained`: it can be given up. */
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
  readonly mutations: ReadonlySet<Mutation>;
  readonly holdsLease: () => boolean;
  readonly onRefused: (reason: FenceReason) => void;
  /** Told when its state is another one. */
  readonly onChange: () => void;
}

/** A bucket from being taken to being given up. */
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
    const { transport, clock, mutations, holdsLease, onRefused } = options;
    const { requestTimeoutMs, leaseDurationMs, renewDeadlineMs } = options.timing;
    this.#fence = new BucketFence({
      transport,
      clock,
      requestTimeoutMs,
      // Who dies is waited for just as long.
      maxWriteDelayMs: leaseDurationMs - renewDeadlineMs,
      holdsLease: mutations.has("no fence") ? () => true : holdsLease,
      onRefused,
    });
  }

  get state(): BucketState {
    return this.#state;
  }

  /** Why it is given up although nobody asked for it. */
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

  /** Ends the work. Resolves when nothing of it can happen any more. */
  async drain(): Promise<void> {
    if (this.#state === "draining" || this.#state === "drained") return;
    this.#state = "draining";
    this.#stop.abort(new Error("the bucket is being released"));
    const { clock, timing, mutations, onChange } = this.#options;
    const cutOff = new AbortController();
    const timeout = clock.sleep(timing.drainMs, cutOff.signal, { background: true }).catch(() => undefined);
    await Promise.race([this.#ended.promise, timeout]);
    cutOff.abort();
    this.#fence.close();
    if (!mutations.has("no wait for outcomes")) await this.#fence.settled();
    this.#state = "drained";
    onChange();
  }

  /** Ends the work at once: somebody else may have the bucket. */
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

import type { Clock, Logger } from "@kubewright/clock";
import type { Transport } from "@kubewright/transport";

import type { StoredAssignment } from "./assignment-store.js";
import type { Assignment, AssignmentEdits, Entry } from "./assignment.js";
import type { Bucket } from "./bucket.js";
import { FailureBackoff } from "./failure-backoff.js";
import type { BucketLayout } from "./layout.js";
import { LeaseLostError } from "./lease-lost-error.js";
import { type BucketState, OwnedBucket, type RunBucket } from "./owned-bucket.js";
import type { HandoffReason, MemberMetrics } from "./shard-metrics.js";
import type { ShardTiming } from "./timing.js";

export interface OwnedBucketsOptions {
  /** Identity of this member. */
  readonly me: string;
  readonly layout: BucketLayout;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly timing: ShardTiming;
  readonly runBucket: RunBucket;
  /** Whether this member's Lease is valid now. */
  readonly holdsLease: () => boolean;
  /** The newest known assignment; `undefined`: none exists. */
  readonly latest: () => StoredAssignment | undefined;
  /** Called when a bucket may need work. */
  readonly onChange: () => void;
  readonly metrics: MemberMetrics | undefined;
  readonly logger: Logger;
}

/** The buckets of a member from acquire to release, and how long other buckets have had no owner. */
export class OwnedBuckets {
  readonly #options: OwnedBucketsOptions;
  readonly #owned = new Map<Bucket, OwnedBucket>();
  /** Monotonic time since which a bucket is seen without owner. */
  readonly #freeSinceMs = new Map<Bucket, number>();
  readonly failureBackoff: FailureBackoff;

  constructor(options: OwnedBucketsOptions) {
    this.#options = options;
    const { failureBackoffMs: initialMs, maxFailureBackoffMs: maxMs } = options.timing;
    this.failureBackoff = new FailureBackoff({ initialMs, maxMs });
  }

  get isEmpty(): boolean {
    return this.#owned.size === 0;
  }

  /** Whether the caches of all owned buckets are filled. */
  get isSynced(): boolean {
    return [...this.#owned.values()].every(({ state }) => state !== "starting");
  }

  /** State of a bucket; `undefined`: this member does not own it. */
  stateOf(bucket: Bucket): BucketState | undefined {
    return this.#owned.get(bucket)?.state;
  }

  /** How long a bucket has been seen without owner, in milliseconds. */
  freeForMs(bucket: Bucket): number {
    const nowMs = this.#options.clock.monotonic();
    return nowMs - (this.#freeSinceMs.get(bucket) ?? nowMs);
  }

  /** Buckets that have been seen without owner for at least `forMs`. */
  withoutOwner(forMs = 0): readonly Bucket[] {
    return [...this.#freeSinceMs.keys()].filter((bucket) => this.freeForMs(bucket) >= forMs);
  }

  /** Starts to drain some buckets. Default: all. */
  drain(buckets: Iterable<Bucket> = this.#owned.keys()): void {
    for (const bucket of buckets) void this.#owned.get(bucket)?.drain();
  }

  /** The drained buckets, which can be released; `failed` lists those of them that failed. */
  drained(): Required<Pick<AssignmentEdits, "release" | "failed">> {
    const drained = [...this.#owned.values()].filter(({ state }) => state === "drained");
    const failed = drained.filter(({ failure }) => failure !== undefined && !(failure instanceof LeaseLostError));
    return { release: drained.map(({ bucket }) => bucket), failed: new Set(failed.map(({ bucket }) => bucket)) };
  }

  /** Ends the work of all buckets immediately. */
  abandon(): void {
    for (const owned of this.#owned.values()) owned.abandon();
    this.#owned.clear();
  }

  /**
   * Reconciles the buckets of this member with the assignment: abandons buckets of other owners, starts buckets
   * assigned to it.
   *
   * @param stored - `undefined`: no assignment exists.
   * @param isCurrent - Whether `stored` was read or written by this member. An object from the watch may be stale.
   * @returns Whether the assignment must be read, because a stale object assigns a bucket to this member.
   */
  reconcile(stored: StoredAssignment | undefined, isCurrent: boolean): boolean {
    const { me, layout, clock, metrics } = this.#options;
    const entries = stored && this.#entriesOf(stored);
    for (const [bucket, owned] of this.#owned) {
      const entry = entries?.[bucket];
      if (entry?.owner === me && entry.epoch === owned.epoch) continue;
      if (stored === undefined) {
        // Without an assignment other members wait for a lease duration, so work in flight may finish.
        void owned.drain();
        if (owned.state !== "drained") continue;
      }
      if (owned.state !== "drained") this.#recordHandoff(bucket, "lost", "Lost a bucket");
      owned.abandon();
      this.#owned.delete(bucket);
      metrics?.setOwner(layout.nameOf(bucket), false);
    }
    let mustRead = false;
    if (stored === undefined || entries?.length === 0) return mustRead;
    for (const bucket of layout.buckets) {
      const { owner, epoch } = entries![bucket]!;
      if (owner !== "") this.#freeSinceMs.delete(bucket);
      else if (!this.#freeSinceMs.has(bucket)) this.#freeSinceMs.set(bucket, clock.monotonic());
      if (owner !== me || this.#owned.has(bucket)) continue;
      if (isCurrent) this.#start(bucket, epoch, stored.resourceVersion);
      else mustRead = true;
    }
    return mustRead;
  }

  /** Logs and measures the handoffs that were written to the assignment. */
  recordHandoffs({ entries }: Assignment, { acquire, release, failed }: AssignmentEdits, isStopping: boolean): void {
    const { clock, layout, logger } = this.#options;
    for (const bucket of acquire) {
      const from = entries[bucket]!.owner;
      this.#recordHandoff(bucket, from === "" ? "free" : "dead", "Acquired a bucket", from === "" ? {} : { from });
    }
    for (const bucket of release) {
      if (failed?.has(bucket) === true) {
        this.failureBackoff.recordFailure(bucket, clock.monotonic());
        const err = this.#owned.get(bucket)?.failure?.message;
        logger.error({ bucket: layout.nameOf(bucket), err }, "Released a bucket that failed");
      }
      this.#recordHandoff(bucket, this.#releaseReason(bucket, isStopping), "Released a bucket");
    }
  }

  #start(bucket: Bucket, epoch: number, notBefore: string): void {
    const { layout, transport, clock, timing, metrics, logger, holdsLease, runBucket, onChange } = this.#options;
    const name = layout.nameOf(bucket);
    let wasActive = false;
    const owned: OwnedBucket = new OwnedBucket({
      bucket,
      name,
      part: layout.namespacePartOf(bucket),
      epoch,
      notBefore,
      transport,
      clock,
      timing,
      holdsLease: () => holdsLease() && this.#isOwned(bucket, epoch),
      onRefused: (reason) => metrics?.countFencedWrite(name, reason),
      onChange: () => {
        if (owned.state === "active" && !wasActive) {
          wasActive = true;
          const seconds = (clock.monotonic() - owned.acquiredMs) / 1000;
          metrics?.observeTakeover(seconds);
          logger.info({ bucket: name, epoch, seconds }, "Working for a bucket");
        }
        onChange();
      },
    });
    this.#owned.set(bucket, owned);
    metrics?.setOwner(name, true);
    owned.start(runBucket);
  }

  /** Also true while no assignment exists: work in flight may finish then. */
  #isOwned(bucket: Bucket, epoch: number): boolean {
    const { me, latest } = this.#options;
    const stored = latest();
    if (stored === undefined) return true;
    const entry = this.#entriesOf(stored)[bucket];
    return entry?.owner === me && entry.epoch === epoch;
  }

  /** Empty for an assignment with another layout: none of its buckets is this member's. */
  #entriesOf({ layout, assignment }: StoredAssignment): readonly Entry[] {
    return layout.text === this.#options.layout.text ? assignment.entries : [];
  }

  #releaseReason(bucket: Bucket, isStopping: boolean): HandoffReason {
    const failure = this.#owned.get(bucket)?.failure;
    if (failure instanceof LeaseLostError) return "lease";
    return failure !== undefined ? "failure" : isStopping ? "stop" : "balance";
  }

  #recordHandoff(bucket: Bucket, reason: HandoffReason, message: string, fields: object = {}): void {
    const { layout, metrics, logger } = this.#options;
    metrics?.countHandoff(reason);
    logger.info({ bucket: layout.nameOf(bucket), reason, ...fields }, message);
  }
}

import type { Clock, Logger } from "@kubewright/clock";
import type { Transport } from "@kubewright/transport";

import type { StoredAssignment } from "./assignment-store.js";
import type { Assignment, AssignmentEdits, Entry } from "./assignment.js";
import type { Bucket } from "./bucket.js";
import type { BucketLayout } from "./layout.js";
import type { Mutation } from "./mutation.js";
import { type BucketState, OwnedBucket, type RunBucket } from "./owned-bucket.js";
import type { HandoffReason, MemberMetrics } from "./shard-metrics.js";
import type { ShardTiming } from "./timing.js";

export interface OwnedBucketsOptions {
  /** The identity of the member whose they are. */
  readonly me: string;
  readonly layout: BucketLayout;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly timing: ShardTiming;
  readonly mutations: ReadonlySet<Mutation>;
  readonly runBucket: RunBucket;
  /** Whether the member's lease holds right now. */
  readonly holdsLease: () => boolean;
  /** What is known of the assignment; `undefined`: there is none. */
  readonly latest: () => StoredAssignment | undefined;
  /** Told when there may be something to do for a bucket. */
  readonly onChange: () => void;
  readonly metrics: MemberMetrics | undefined;
  readonly logger: Logger;
}

/** What a member has, each bucket from being taken to being given up, and what it saw of those that are nobody's. */
export class OwnedBuckets {
  readonly #options: OwnedBucketsOptions;
  readonly #owned = new Map<Bucket, OwnedBucket>();
  /** Monotonic: since when a bucket was seen to be nobody's. */
  readonly #freeSinceMs = new Map<Bucket, number>();
  /** Monotonic: until when this member leaves a bucket to others. */
  readonly #failureBackoffUntilMs = new Map<Bucket, number>();

  constructor(options: OwnedBucketsOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#owned.size === 0;
  }

  /** Whether the caches of all are filled. */
  get isSynced(): boolean {
    return [...this.#owned.values()].every(({ state }) => state !== "starting");
  }

  /** `undefined`: the member has not got it. */
  stateOf(bucket: Bucket): BucketState | undefined {
    return this.#owned.get(bucket)?.state;
  }

  /** For how long a bucket was seen to be nobody's, in milliseconds. */
  freeForMs(bucket: Bucket): number {
    const nowMs = this.#options.clock.monotonic();
    return nowMs - (this.#freeSinceMs.get(bucket) ?? nowMs);
  }

  /** Those that the member could not work for lately. */
  recentlyFailed(): ReadonlySet<Bucket> {
    const nowMs = this.#options.clock.monotonic();
    for (const [bucket, untilMs] of this.#failureBackoffUntilMs)
      if (untilMs <= nowMs) this.#failureBackoffUntilMs.delete(bucket);
    return new Set(this.#failureBackoffUntilMs.keys());
  }

  /** Begins to end the work for some of them, or for all. */
  drain(buckets: Iterable<Bucket> = this.#owned.keys()): void {
    for (const bucket of buckets) void this.#owned.get(bucket)?.drain();
  }

  /** Those whose work has ended, with `failed` among them: they can be given up. */
  drained(): Required<Pick<AssignmentEdits, "release" | "failed">> {
    const drained = [...this.#owned.values()].filter(({ state }) => state === "drained");
    const failed = drained.filter(({ failure }) => failure !== undefined);
    return { release: drained.map(({ bucket }) => bucket), failed: new Set(failed.map(({ bucket }) => bucket)) };
  }

  /** Ends the work for all at once. */
  abandon(): void {
    for (const owned of this.#owned.values()) owned.abandon();
    this.#owned.clear();
  }

  /**
   * Compares what the member has with what it is to have by the assignment: loses what is others', starts what is its own.
   *
   * @param stored - `undefined`: there is none.
   * @param isCurrent - It was read or written, not heard of by a watch, which may lag behind.
   * @returns Whether the assignment has to be read, since a bucket seems to be the member's.
   */
  reconcile(stored: StoredAssignment | undefined, isCurrent: boolean): boolean {
    const { me, layout, clock, metrics } = this.#options;
    const entries = stored && this.#entriesOf(stored);
    for (const [bucket, owned] of this.#owned) {
      const entry = entries?.[bucket];
      if (entry?.owner === me && entry.epoch === owned.epoch) continue;
      if (stored === undefined) {
        // Without an assignment others wait for a lease's time: what was begun may end.
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

  /** Tells people of what was written into the assignment. */
  recordHandoffs({ entries }: Assignment, { acquire, release }: AssignmentEdits, isStopping: boolean): void {
    const { clock, timing, layout, logger } = this.#options;
    for (const bucket of acquire) {
      const from = entries[bucket]!.owner;
      this.#recordHandoff(bucket, from === "" ? "free" : "dead", "Acquired a bucket", from === "" ? {} : { from });
    }
    for (const bucket of release) {
      const failure = this.#owned.get(bucket)?.failure;
      if (failure !== undefined) {
        this.#failureBackoffUntilMs.set(bucket, clock.monotonic() + timing.failureBackoffMs);
        logger.error({ bucket: layout.nameOf(bucket), err: failure.message }, "Released a bucket that failed");
      }
      const reason = failure !== undefined ? "failure" : isStopping ? "stop" : "balance";
      this.#recordHandoff(bucket, reason, "Released a bucket");
    }
  }

  #start(bucket: Bucket, epoch: number, notBefore: string): void {
    const { layout, transport, clock, timing, mutations, metrics, logger, holdsLease, runBucket, onChange } =
      this.#options;
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
      mutations,
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

  /** Also while there is no assignment: what was begun ends then. */
  #isOwned(bucket: Bucket, epoch: number): boolean {
    const { me, latest } = this.#options;
    const stored = latest();
    if (stored === undefined) return true;
    const entry = this.#entriesOf(stored)[bucket];
    return entry?.owner === me && entry.epoch === epoch;
  }

  /** None of one with other buckets: nothing in it is this member's. */
  #entriesOf({ layout, assignment }: StoredAssignment): readonly Entry[] {
    return layout.text === this.#options.layout.text ? assignment.entries : [];
  }

  #recordHandoff(bucket: Bucket, reason: HandoffReason, message: string, fields: object = {}): void {
    const { layout, metrics, logger } = this.#options;
    metrics?.countHandoff(reason);
    logger.info({ bucket: layout.nameOf(bucket), reason, ...fields }, message);
  }
}

import { type ConfigMap, type DeepReadonly, type Lease, configMaps, leases } from "@kubewright/api";
import { type Client, errorMessage, isConflict } from "@kubewright/client";
import { type Clock, type Logger, type Random, standardErrorLogger } from "@kubewright/clock";
import { SharedInformer, deletedObject } from "@kubewright/informer";
import type { Transport } from "@kubewright/transport";

import { AssignmentError } from "./assignment-error.js";
import { AssignmentStore, type StoredAssignment, assignmentName } from "./assignment-store.js";
import { type AssignmentEdits, bucketsOf, createFreeAssignment, withEdits } from "./assignment.js";
import type { Bucket } from "./bucket.js";
import { MemberFencing } from "./member-fencing.js";
import { OwnedBuckets } from "./owned-buckets.js";
import { type BucketLayout, unsplitLayout } from "./layout.js";
import { MemberError } from "./member-error.js";
import { Members } from "./members.js";
import type { BucketState, RunBucket } from "./owned-bucket.js";
import { GROUP_LABEL, OwnLease } from "./own-lease.js";
import { planAssignment } from "./plan.js";
import type { MemberMetrics } from "./shard-metrics.js";
import { type ShardTiming, shardTiming } from "./timing.js";

export interface ShardMemberOptions {
  /** For Leases and the assignment. Use a separate connection, so that other traffic cannot delay a renewal. */
  readonly client: Pick<Client, "resource">;
  /** Transport for the work of buckets. Each bucket gets it behind its own fence. */
  readonly transport: Transport;
  /** Wall time is only written to Leases and compared with itself. Liveness is judged by monotonic time. */
  readonly clock: Clock;
  readonly random: Random;
  /** Namespace of the Leases and the assignment. */
  readonly namespace: string;
  /** Members of one group share the work. The assignment's ConfigMap is `GROUP-assignment`. Default `kubewright`. */
  readonly group?: string;
  /**
   * Identifies this process among all processes, earlier ones of the same pod included: the pod's name and a random
   * suffix. Allowed are lower case letters, digits, `-` and `.`.
   */
  readonly identity: string;
  /**
   * The buckets, which must be the same for all members of a group: a member with another layout does not take part. An
   * assignment with another layout is replaced once none of its buckets has an owner and no live member uses that
   * layout. Default: no namespace is split.
   */
  readonly layout?: BucketLayout | undefined;
  /** Version of the program, shown on the Lease. */
  readonly version?: string;
  readonly timing?: Partial<ShardTiming>;
  /** Further annotations of the Lease, for other members; written with each renewal. Default: none. */
  readonly annotations?: (() => Readonly<Record<string, string>>) | undefined;
  /**
   * Why this member may not acquire buckets yet, as text: another manager may do the work. The member still has its
   * Lease, so that the other manager can see it. Default: not blocked.
   */
  readonly blockReason?: (() => string | undefined) | undefined;
  readonly runBucket: RunBucket;
  readonly metrics?: MemberMetrics | undefined;
  /** Default: standard error, warnings and errors only. */
  readonly logger?: Logger;
}

/** A member's view of itself and of the other members. */
export interface ShardStatus {
  readonly identity: string;
  /** Identities of the live members, this member included. */
  readonly members: readonly string[];
  /** Why this member acquires no buckets; `undefined`: no problem. */
  readonly problem: string | undefined;
  readonly buckets: readonly BucketStatus[];
}

export interface BucketStatus {
  readonly name: string;
  /** `""`: no owner, or not known. */
  readonly owner: string;
  readonly epoch: number;
  /** Set for buckets that this member owns. */
  readonly state: BucketState | undefined;
}

/** How long no bucket is without an owner while a member lives and the API server answers. */
const WITHOUT_OWNER_MS = 60_000;
/** How long a stopping member waits at most, in addition to the drain timeout. */
const STOP_GRACE_MS = 15_000;

/**
 * A process that shares work with others.
 *
 * Its Lease shows that it is live. The assignment names its buckets; all members write it by compare-and-swap, and no
 * member acquires a bucket of another live member. The owner of a bucket runs its work behind a fence that checks the
 * Lease whenever a write is sent.
 *
 * Two members never write for one bucket, under two conditions. Clock rates differ by at most a fifth. No request is
 * delayed for longer than the time between the renew deadline and the end of the Lease.
 */
export class ShardMember {
  readonly name = "sharding";
  readonly identity: string;
  readonly #options: ShardMemberOptions;
  readonly #clock: Clock;
  readonly #timing: ShardTiming;
  readonly #logger: Logger;
  readonly #group: string;
  readonly #layout: BucketLayout;
  readonly #lease: OwnLease;
  readonly #members: Members;
  readonly #store: AssignmentStore;
  readonly #ownedBuckets: OwnedBuckets;
  readonly #memberFencing: MemberFencing;
  #noAssignmentSinceMs: number | undefined;
  #problem: string | undefined;
  /** The cached assignment may be stale: it must be read. */
  #mustRead = true;
  #isStopping = false;
  #wakeUp: (() => void) | undefined;
  #mustReconcileAgain = false;
  #lastError: string | undefined;

  /** @throws Error when the durations are inconsistent, or the identity or the namespace is empty. */
  constructor(options: ShardMemberOptions) {
    if (options.identity === "" || options.namespace === "")
      throw new Error("a member needs an identity and a namespace");
    const { client, clock, namespace, identity, group = "kubewright", version = "", layout = unsplitLayout } = options;
    this.identity = identity;
    this.#options = options;
    this.#clock = clock;
    this.#timing = shardTiming(options.timing);
    this.#logger = options.logger ?? standardErrorLogger(clock, "sharding");
    this.#group = group;
    this.#layout = layout;
    const { requestTimeoutMs, leaseDurationMs } = this.#timing;
    this.#store = new AssignmentStore({ client, clock, namespace, group, layout, requestTimeoutMs });
    this.#members = new Members({ clock, me: identity, leaseDurationMs, layout });
    const confirm = async (signal: AbortSignal): Promise<void> =>
      this.#applyAssignment(await this.#store.read(signal), true);
    this.#lease = new OwnLease({
      client,
      clock,
      namespace,
      group,
      identity,
      version,
      layout,
      timing: this.#timing,
      annotations: options.annotations ?? (() => ({})),
      confirm,
    });
    const [timing, logger, members] = [this.#timing, this.#logger, this.#members];
    this.#memberFencing = new MemberFencing({ client, clock, namespace, timing, members, logger });
    this.#ownedBuckets = new OwnedBuckets({
      me: identity,
      layout,
      transport: options.transport,
      clock,
      timing,
      runBucket: options.runBucket,
      holdsLease: () => this.#lease.holds,
      latest: () => this.#store.latest,
      onChange: () => this.#wake(),
      metrics: options.metrics,
      logger,
    });
  }

  /**
   * Whether the Lease is valid and the caches of all owned buckets are synced. Also true for a member without buckets.
   */
  get isReady(): boolean {
    return this.#lease.holds && this.#problem === undefined && this.#ownedBuckets.isSynced;
  }

  /** Whether this member's Lease is valid now, by its last renewal. */
  get holdsLease(): boolean {
    return this.#lease.holds;
  }

  /** Names of the buckets without an owner for longer than 60 s, while this member may acquire buckets. */
  get bucketsWithoutOwner(): readonly string[] {
    const mayAcquire = this.#lease.holds && this.#problem === undefined && this.#options.blockReason?.() === undefined;
    return mayAcquire
      ? this.#ownedBuckets.withoutOwner(WITHOUT_OWNER_MS).map((bucket) => this.#layout.nameOf(bucket))
      : [];
  }

  /** Annotations on the Leases of the other live members. */
  get annotationsOfOthers(): readonly Readonly<Record<string, string>>[] {
    return this.#members.annotationsOfOthers();
  }

  /** Whether this is the identity of a member of the group with any splits. */
  hasMember(identity: string): boolean {
    return this.#members.has(identity);
  }

  status(): ShardStatus {
    const { latest } = this.#store;
    const entries = latest !== undefined && this.#hasOwnLayout(latest) ? latest.assignment.entries : [];
    const buckets = this.#layout.buckets.map((bucket) => {
      const { owner = "", epoch = 0 } = entries[bucket] ?? {};
      return { name: this.#layout.nameOf(bucket), owner, epoch, state: this.#ownedBuckets.stateOf(bucket) };
    });
    const problem = this.#problem ?? this.#options.blockReason?.();
    return { identity: this.identity, members: this.#members.live(), problem, buckets };
  }

  /**
   * Works until the signal aborts, then drains and releases all buckets. Keeps the process alive.
   *
   * @throws MemberError when other members have fenced this process: it must exit.
   */
  async run(signal: AbortSignal): Promise<void> {
    const release = this.#clock.keepAlive();
    const ending = new AbortController();
    const watching = new AbortController();
    const failed = Promise.withResolvers<never>();
    const fail = (error: unknown): void => failed.reject(error);
    failed.promise.catch(() => {});
    const onAbort = (): void => {
      this.#isStopping = true;
      this.#wake();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const informers = this.#informers();
    const watched = informers.map((informer) => informer.run(watching.signal));
    try {
      const renewing = this.#renew(ending.signal).catch(fail);
      const reconciling = this.#runLoop(ending.signal);
      await Promise.race([reconciling, failed.promise]);
      ending.abort();
      await renewing;
      await this.#leaveGroup();
    } finally {
      this.#ownedBuckets.abandon();
      ending.abort();
      watching.abort();
      await Promise.all(watched);
      signal.removeEventListener("abort", onAbort);
      release();
    }
  }

  #informers(): readonly Pick<SharedInformer<Lease>, "run">[] {
    const { client, clock, random, namespace } = this.#options;
    const onError = (error: Error): void => this.#logger.debug({ err: error.message }, "Watching members failed");
    const leaseInformer = new SharedInformer<Lease>({
      client: client.resource(leases),
      clock,
      random: random.fork("leases of members"),
      namespace,
      labelSelector: `${GROUP_LABEL}=${this.#group}`,
      onError,
    });
    const observeLease = (lease: DeepReadonly<Lease>): void => {
      const before = this.#members.live().length + this.#members.fenced().size;
      this.#members.observe(lease);
      if (this.#members.live().length + this.#members.fenced().size !== before) this.#wake();
    };
    leaseInformer.addEventHandler({
      onAdd: observeLease,
      onUpdate: (_, lease) => observeLease(lease),
      onDelete: (lease) => {
        const last = deletedObject(lease);
        if (last !== undefined) this.#members.observeDeletion(last);
        this.#wake();
      },
    });
    const assignmentInformer = new SharedInformer<ConfigMap>({
      client: client.resource(configMaps),
      clock,
      random: random.fork("assignment"),
      namespace,
      fieldSelector: `metadata.name=${assignmentName(this.#group)}`,
      onError,
    });
    const observeAssignment = (object: DeepReadonly<ConfigMap>): void => {
      try {
        this.#store.observe(object);
      } catch {
        this.#mustRead = true;
      }
      this.#wake();
    };
    assignmentInformer.addEventHandler({
      onAdd: observeAssignment,
      onUpdate: (_, object) => observeAssignment(object),
      onDelete: () => {
        this.#mustRead = true;
        this.#wake();
      },
    });
    return [leaseInformer, assignmentInformer];
  }

  /**
   * Renews the Lease until the signal aborts.
   *
   * @throws MemberError when the Lease is lost.
   */
  async #renew(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const startMs = this.#clock.monotonic();
      try {
        const wasLate = await this.#lease.renew(signal);
        if (wasLate) {
          this.#members.restartObservation();
          this.#wake();
        }
      } catch (error) {
        if (error instanceof MemberError) throw error;
        if (signal.aborted) return;
        this.#report("Failed to renew the lease of this member", error);
        // A failed write may have taken effect. The next request finds that out, and need not wait.
        if (isConflict(error)) continue;
      }
      const passedMs = this.#clock.monotonic() - startMs;
      const pauseMs = Math.max(0, this.#timing.retryPeriodMs - passedMs);
      await this.#clock.sleep(pauseMs, signal, BACKGROUND).catch(() => undefined);
    }
  }

  /**
   * Reconciles until this member has stopped.
   *
   * @throws MemberError when this process is no longer a member.
   */
  async #runLoop(signal: AbortSignal): Promise<void> {
    let stoppingSinceMs: number | undefined;
    while (!signal.aborted) {
      if (this.#isStopping) {
        stoppingSinceMs ??= this.#clock.monotonic();
        this.#ownedBuckets.drain();
        if (this.#ownedBuckets.isEmpty && this.#remainingBuckets().length === 0) return;
        if (this.#clock.monotonic() - stoppingSinceMs > this.#timing.drainMs + STOP_GRACE_MS) return;
      }
      try {
        await this.#reconcile(signal);
        this.#lastError = undefined;
      } catch (error) {
        if (error instanceof MemberError) throw error;
        this.#mustRead = true;
        if (isConflict(error)) {
          this.#options.metrics?.countConflict();
          continue;
        }
        if (!signal.aborted) this.#report("Failed to change the assignment", error);
      }
      await this.#pause(signal);
    }
  }

  async #reconcile(signal: AbortSignal): Promise<void> {
    // A member that cannot reach the API server has no current view of others, and could not write.
    if (!this.#lease.isRenewedInTime) return;
    if (this.#mustRead) {
      // A change during the read sets it again.
      this.#mustRead = false;
      if (!(await this.#read(signal))) this.#mustRead = true;
      if (this.#mustRead) return;
    }
    const stored = this.#store.latest;
    this.#applyAssignment(stored, false);
    if (stored === undefined) return this.#recreateAssignment(signal);
    this.#options.metrics?.setMembers(this.#members.live().length);
    this.#options.metrics?.setBucketsWithoutOwner(this.#ownedBuckets.withoutOwner().length);
    await this.#memberFencing.fenceExpiredMembers(stored.assignment, signal);
    if (!this.#hasOwnLayout(stored)) return this.#replaceLayout(stored, signal);
    this.#problem = undefined;
    const edits = this.#plan(stored);
    const { acquire, release, fence, retry } = edits;
    if (acquire.length + release.length + fence.size + (retry?.size ?? 0) === 0) return;
    const written = await this.#store.write(stored, withEdits(stored.assignment, this.identity, edits), signal);
    this.#ownedBuckets.recordHandoffs(stored.assignment, edits, this.#isStopping);
    this.#applyAssignment(written, true);
    this.#mustReconcileAgain = true;
  }

  /** @returns False when the stored assignment cannot be parsed. */
  async #read(signal: AbortSignal): Promise<boolean> {
    try {
      const stored = await this.#store.read(signal);
      if (stored === undefined) this.#problem = undefined;
      this.#applyAssignment(stored, true);
      return true;
    } catch (error) {
      if (!(error instanceof AssignmentError)) throw error;
      this.#setProblem(error.message);
      // Drains what is running. This is not a time without assignment: other members may own its buckets by the stored
      // one.
      this.#applyAssignment(undefined, true);
      this.#noAssignmentSinceMs = undefined;
      return false;
    }
  }

  #setProblem(problem: string): void {
    if (this.#problem !== problem) this.#logger.error({ err: problem }, "Not taking part");
    this.#problem = problem;
  }

  /** Whether the stored assignment has this member's layout. */
  #hasOwnLayout({ layout }: StoredAssignment): boolean {
    return layout.text === this.#layout.text;
  }

  /**
   * Replaces an assignment of another layout by one of this member's layout. It waits until no bucket of it has an
   * owner and no live member uses its layout. Until then this member does not take part. New epochs continue after the
   * highest one of any bucket.
   */
  async #replaceLayout(stored: StoredAssignment, signal: AbortSignal): Promise<void> {
    const { layout, assignment } = stored;
    const { fenced } = this.#memberFencing;
    const isFree = assignment.entries.every(({ owner }) => owner === "" || fenced.has(owner));
    if (!isFree || this.#members.hasOthersWith(layout)) {
      const describe = ({ text }: BucketLayout): string => (text === "" ? "no namespace" : text);
      this.#setProblem(
        `the assignment has split ${describe(layout)}, this member ${describe(this.#layout)}: start it with the same splits, or stop all that have the others first`,
      );
      return;
    }
    if (this.#isStopping) return;
    const epoch = Math.max(...assignment.entries.map((entry) => entry.epoch));
    const written = await this.#store.write(stored, createFreeAssignment(this.#layout, epoch), signal);
    this.#logger.info({ before: layout.text, now: this.#layout.text }, "Changed which namespaces are split");
    this.#applyAssignment(written, true);
    this.#mustReconcileAgain = true;
  }

  /** @param isCurrent - Whether `stored` was read or written by this member. An object from the watch may be stale. */
  #applyAssignment(stored: StoredAssignment | undefined, isCurrent: boolean): void {
    const mustRead = this.#ownedBuckets.reconcile(stored, isCurrent);
    if (mustRead) this.#mustRead = this.#mustReconcileAgain = true;
    this.#noAssignmentSinceMs =
      stored === undefined ? (this.#noAssignmentSinceMs ?? this.#clock.monotonic()) : undefined;
  }

  #plan({ assignment }: StoredAssignment): AssignmentEdits {
    const { failureBackoff } = this.#ownedBuckets;
    const nowMs = this.#clock.monotonic();
    const plan = planAssignment({
      me: this.identity,
      assignment,
      live: this.#members.live(),
      fenced: this.#memberFencing.fenced,
      isMembershipStable: this.#members.unchangedForMs >= this.#timing.rebalanceDelayMs,
      isStopping: this.#isStopping,
      freeForMs: (bucket) => this.#ownedBuckets.freeForMs(bucket),
      delayed: failureBackoff.delayed(nowMs),
      recentlyFailed: failureBackoff.recentlyFailed(nowMs),
    });
    this.#ownedBuckets.drain(plan.release);
    const isBlocked = this.#options.blockReason?.() !== undefined;
    return { ...plan, ...this.#ownedBuckets.drained(), acquire: this.#lease.holds && !isBlocked ? plan.acquire : [] };
  }

  /** Creates an assignment where none exists, once no member can own a bucket of an earlier one. */
  async #recreateAssignment(signal: AbortSignal): Promise<void> {
    const sinceMs = this.#noAssignmentSinceMs ?? this.#clock.monotonic();
    if (this.#isStopping || !this.#ownedBuckets.isEmpty) return;
    if (this.#clock.monotonic() - sinceMs < this.#timing.leaseDurationMs) {
      this.#mustRead = true;
      return;
    }
    await this.#store.create(signal);
    this.#logger.info({ name: assignmentName(this.#group) }, "Created an assignment");
    this.#mustReconcileAgain = true;
  }

  /** Deletes the Lease when no bucket is left, so that other members need not wait. */
  async #leaveGroup(): Promise<void> {
    const remaining = this.#remainingBuckets();
    if (remaining.length > 0) {
      this.#logger.warn(
        { buckets: remaining.map((bucket) => this.#layout.nameOf(bucket)) },
        "Stopped without giving up all buckets",
      );
      return;
    }
    await this.#lease.remove(new AbortController().signal).catch((error: unknown) => {
      this.#logger.warn({ err: errorMessage(error) }, "Failed to remove the lease of this member");
    });
  }

  /** Buckets that this member still owns by the assignment. */
  #remainingBuckets(): readonly Bucket[] {
    const { latest } = this.#store;
    return latest === undefined ? [] : bucketsOf(latest.assignment, this.identity);
  }

  async #pause(signal: AbortSignal): Promise<void> {
    if (this.#mustReconcileAgain) {
      this.#mustReconcileAgain = false;
      return;
    }
    const woken = Promise.withResolvers<void>();
    this.#wakeUp = woken.resolve;
    const timer = this.#clock.setTimer(this.#timing.retryPeriodMs, woken.resolve, BACKGROUND);
    const onAbort = (): void => woken.resolve();
    signal.addEventListener("abort", onAbort, { once: true });
    await woken.promise;
    signal.removeEventListener("abort", onAbort);
    timer.cancel();
    this.#wakeUp = undefined;
    this.#mustReconcileAgain = false;
  }

  #wake(): void {
    this.#mustReconcileAgain = true;
    this.#wakeUp?.();
  }

  /** Logs an error as a warning when it differs from the last one, else at debug level. */
  #report(message: string, error: unknown): void {
    const err = errorMessage(error);
    this.#logger[err === this.#lastError ? "debug" : "warn"]({ err }, message);
    this.#lastError = err;
  }
}

/** Renewals must not keep a simulation running: only work does. */
const BACKGROUND = { background: true } as const;

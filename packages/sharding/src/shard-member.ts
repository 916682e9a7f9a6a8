import { type ConfigMap, type DeepReadonly, type Lease, configMaps, leases } from "@kubewright/api";
import { type Client, errorMessage, isConflict, isNotFound } from "@kubewright/client";
import { type Clock, type Logger, type Random, standardErrorLogger } from "@kubewright/clock";
import { SharedInformer, deletedObject } from "@kubewright/informer";
import type { Transport } from "@kubewright/transport";

import { AssignmentStore, type StoredAssignment, assignmentName } from "./assignment-store.js";
import { type AssignmentEdits, bucketsOf, withEdits } from "./assignment.js";
import { bounded } from "./bounded.js";
import { type Bucket, allBuckets, bucketName } from "./bucket.js";
import { MemberError } from "./member-error.js";
import { Members, identityOf } from "./members.js";
import type { Mutation } from "./mutation.js";
import { type BucketState, OwnedBucket, type RunBucket } from "./owned-bucket.js";
import { GROUP_LABEL, OwnLease, leaseName } from "./own-lease.js";
import { planAssignment } from "./plan.js";
import type { HandoffReason, MemberMetrics } from "./shard-metrics.js";
import { type ShardTiming, shardTiming } from "./timing.js";

export interface ShardMemberOptions {
  /** For Leases and the assignment: best over a connection of its own, so that other traffic cannot delay a renewal. */
  readonly client: Pick<Client, "resource">;
  /** By which the work of buckets goes, each behind a fence of its own. */
  readonly transport: Transport;
  /** Wall time is only written, and compared with itself; who lives is judged by monotonic time. */
  readonly clock: Clock;
  readonly random: Random;
  /** Where the Leases and the assignment are. */
  readonly namespace: string;
  /** Who belongs together: the assignment's ConfigMap is `GROUP-assignment`. Default `kubewright`. */
  readonly group?: string;
  /**
   * Tells this process from all others, also from earlier ones of the same pod: the pod's name with something random behind it.
   * Lower case letters, digits, `-` and `.`.
   */
  readonly identity: string;
  /** Of the program, for people who look at the Lease. */
  readonly version?: string;
  readonly timing?: Partial<ShardTiming>;
  /** What others are to know of this member: annotations of its Lease, written with each renewal. Default: nothing. */
  readonly annotations?: (() => Readonly<Record<string, string>>) | undefined;
  /**
   * Why this member is not to take anything yet, in words: somebody else may do the work. It has its Lease all the same, so that
   * they can see it. Default: nothing is in the way.
   */
  readonly obstacle?: (() => string | undefined) | undefined;
  readonly runBucket: RunBucket;
  readonly metrics?: MemberMetrics | undefined;
  /** Default: standard error, for what goes wrong. */
  readonly logger?: Logger;
}

/** What a member knows of itself and of others, for people. */
export interface ShardStatus {
  readonly identity: string;
  /** Those who live, this member's identity among them. */
  readonly members: readonly string[];
  /** Why this member takes nothing; `undefined`: nothing is wrong. */
  readonly problem: string | undefined;
  readonly buckets: readonly BucketStatus[];
}

export interface BucketStatus {
  readonly name: string;
  /** `""`: nobody, or not known. */
  readonly owner: string;
  readonly epoch: number;
  /** Set for what this member has. */
  readonly state: BucketState | undefined;
}

/** What a member that ends waits for at most, besides the draining. */
const STOP_GRACE_MS = 15_000;

/**
 * A process that shares work with others. It lives by a Lease, and has buckets by an assignment that all members write by
 * compare-and-swap; nobody takes from a living other. Whoever has a bucket runs its work behind a fence that asks for the Lease
 * whenever a write is sent.
 *
 * As long as clocks go at about the same rate (within a fifth), and no request is held up for longer than between the renew
 * deadline and the end of the lease, there are never two who write for a bucket.
 */
export class ShardMember {
  readonly name = "sharding";
  readonly identity: string;
  readonly #options: ShardMemberOptions;
  readonly #clock: Clock;
  readonly #timing: ShardTiming;
  readonly #logger: Logger;
  readonly #mutations: ReadonlySet<Mutation>;
  readonly #group: string;
  readonly #lease: OwnLease;
  readonly #members: Members;
  readonly #store: AssignmentStore;
  readonly #owned = new Map<Bucket, OwnedBucket>();
  /** Monotonic: since when a bucket was seen to be nobody's. */
  readonly #freeSinceMs = new Map<Bucket, number>();
  /** Monotonic: until when this member leaves a bucket to others. */
  readonly #unwantedUntilMs = new Map<Bucket, number>();
  /** Monotonic: since when an owner has no Lease. */
  readonly #absentSinceMs = new Map<string, number>();
  /** Owners whose Leases were deleted that long ago. */
  readonly #gone = new Set<string>();
  #noAssignmentSinceMs: number | undefined;
  #problem: string | undefined;
  /** What is known of the assignment may be wrong: it has to be read. */
  #mustRead = true;
  #isStopping = false;
  #wakeUp: (() => void) | undefined;
  #mustActAgain = false;
  #trouble: string | undefined;

  /** @throws Error when the durations do not fit each other, or there is no identity. */
  constructor(options: ShardMemberOptions, mutations: ReadonlySet<Mutation> = new Set()) {
    if (options.identity === "" || options.namespace === "")
      throw new Error("a member needs an identity and a namespace");
    const { client, clock, namespace, identity, group = "kubewright", version = "" } = options;
    this.identity = identity;
    this.#options = options;
    this.#clock = clock;
    this.#timing = shardTiming(options.timing);
    this.#logger = options.logger ?? standardErrorLogger(clock, "sharding");
    this.#mutations = mutations;
    this.#group = group;
    const { requestTimeoutMs, leaseDurationMs } = this.#timing;
    this.#store = new AssignmentStore({ client, clock, namespace, group, requestTimeoutMs });
    this.#members = new Members({ clock, me: identity, leaseDurationMs });
    const confirm = async (signal: AbortSignal): Promise<void> => this.#look(await this.#store.read(signal), true);
    this.#lease = new OwnLease({
      client,
      clock,
      namespace,
      group,
      identity,
      version,
      timing: this.#timing,
      annotations: options.annotations ?? (() => ({})),
      confirm,
    });
  }

  /** Whether the Lease holds and all that this member has is synced. Also of one that has nothing. */
  get isReady(): boolean {
    const isSynced = [...this.#owned.values()].every(({ state }) => state !== "starting");
    return this.#lease.holds && this.#problem === undefined && isSynced;
  }

  /** Whether this process is known to be alive: it has a Lease, and renews it in time. */
  get holdsLease(): boolean {
    return this.#lease.holds;
  }

  /** What the other members who live tell of themselves, in the annotations of their Leases. */
  get annotationsOfOthers(): readonly Readonly<Record<string, string>>[] {
    return this.#members.annotations();
  }

  status(): ShardStatus {
    const entries = this.#store.latest?.assignment.entries;
    const buckets = allBuckets.map((bucket) => {
      const { owner = "", epoch = 0 } = entries?.[bucket] ?? {};
      return { name: bucketName(bucket), owner, epoch, state: this.#owned.get(bucket)?.state };
    });
    const problem = this.#problem ?? this.#options.obstacle?.();
    return { identity: this.identity, members: this.#members.live(), problem, buckets };
  }

  /**
   * Works until the signal aborts, then gives up everything in order. Keeps the process alive.
   *
   * @throws MemberError when this process is taken for dead: it has to end.
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
      const acting = this.#act(ending.signal);
      await Promise.race([acting, failed.promise]);
      ending.abort();
      await renewing;
      await this.#leave();
    } finally {
      for (const owned of this.#owned.values()) owned.abandon();
      this.#owned.clear();
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
    const saw = (lease: DeepReadonly<Lease>): void => {
      const before = this.#members.live().length + this.#members.buried().size;
      this.#members.saw(lease);
      if (this.#members.live().length + this.#members.buried().size !== before) this.#wake();
    };
    leaseInformer.addEventHandler({
      onAdd: saw,
      onUpdate: (_, lease) => saw(lease),
      onDelete: (lease) => {
        const last = deletedObject(lease);
        if (last !== undefined) this.#members.sawDeleted(last);
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
    const heard = (object: DeepReadonly<ConfigMap>): void => {
      try {
        this.#store.heard(object);
      } catch {
        this.#mustRead = true;
      }
      this.#wake();
    };
    assignmentInformer.addEventHandler({
      onAdd: heard,
      onUpdate: (_, object) => heard(object),
      onDelete: () => {
        this.#mustRead = true;
        this.#wake();
      },
    });
    return [leaseInformer, assignmentInformer];
  }

  /** Renews the Lease until the signal aborts. @throws MemberError when it is lost. */
  async #renew(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const startMs = this.#clock.monotonic();
      try {
        const wasLate = await this.#lease.renew(signal);
        if (wasLate) {
          if (!this.#mutations.has("outages count")) this.#members.restart();
          this.#wake();
        }
      } catch (error) {
        if (error instanceof MemberError) throw error;
        if (signal.aborted) return;
        this.#report("Failed to renew the lease of this member", error);
        // What failed may have been done all the same: the next attempt finds out, and may come at once.
        if (isConflict(error)) continue;
      }
      const passedMs = this.#clock.monotonic() - startMs;
      const pauseMs = Math.max(0, this.#timing.retryPeriodMs - passedMs);
      await this.#clock.sleep(pauseMs, signal, BACKGROUND).catch(() => undefined);
    }
  }

  /** Does what there is to do, until this member has stopped. @throws MemberError */
  async #act(signal: AbortSignal): Promise<void> {
    let stoppingSinceMs: number | undefined;
    while (!signal.aborted) {
      if (this.#isStopping) {
        stoppingSinceMs ??= this.#clock.monotonic();
        for (const owned of this.#owned.values()) void owned.drain();
        const left = this.#store.latest === undefined ? [] : bucketsOf(this.#store.latest.assignment, this.identity);
        if (this.#owned.size === 0 && left.length === 0) return;
        if (this.#clock.monotonic() - stoppingSinceMs > this.#timing.drainMs + STOP_GRACE_MS) return;
      }
      try {
        await this.#once(signal);
        this.#trouble = undefined;
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

  async #once(signal: AbortSignal): Promise<void> {
    // Who cannot reach the API knows nothing of others, and could do nothing.
    if (!this.#lease.isPunctual) return;
    if (this.#mustRead) {
      this.#look(await this.#read(signal), true);
      if (this.#problem !== undefined) return;
      this.#mustRead = false;
    }
    const stored = this.#store.latest;
    this.#look(stored, false);
    if (stored === undefined) return this.#makeAnew(signal);
    this.#options.metrics?.setMembers(this.#members.live().length);
    await this.#findGone(stored, signal);
    await this.#seize(signal);
    const edits = this.#plan(stored);
    if (edits.take.length + edits.release.length + edits.bury.size === 0) return;
    const written = await this.#store.write(stored, withEdits(stored.assignment, this.identity, edits), signal);
    this.#tell(stored, edits);
    this.#look(written, true);
    this.#mustActAgain = true;
  }

  async #read(signal: AbortSignal): Promise<StoredAssignment | undefined> {
    try {
      const stored = await this.#store.read(signal);
      this.#problem = undefined;
      return stored;
    } catch (error) {
      const { message } = error as Error;
      if (message.startsWith("the assignment has") || message.startsWith("the assignment is")) {
        if (this.#problem !== message) this.#logger.error({ err: message }, "Not taking part");
        this.#problem = message;
        return undefined;
      }
      throw error;
    }
  }

  /**
   * Compares what this member has with what it is to have by the assignment.
   *
   * @param isCurrent - It was read or written, not heard of by a watch, which may lag behind.
   */
  #look(stored: StoredAssignment | undefined, isCurrent: boolean): void {
    const nowMs = this.#clock.monotonic();
    for (const [bucket, owned] of this.#owned) {
      const entry = stored?.assignment.entries[bucket];
      if (entry?.owner === this.identity && entry.epoch === owned.epoch) continue;
      if (stored === undefined) {
        // Without an assignment others wait for a lease's time: what was begun may end.
        void owned.drain();
        if (owned.state !== "drained") continue;
      }
      if (owned.state !== "drained") this.#handoff(bucket, "lost", "Lost a bucket");
      owned.abandon();
      this.#owned.delete(bucket);
      this.#options.metrics?.setOwner(bucketName(bucket), false);
    }
    this.#noAssignmentSinceMs = stored === undefined ? (this.#noAssignmentSinceMs ?? nowMs) : undefined;
    if (stored === undefined) return;
    for (const bucket of allBuckets) {
      const { owner, epoch } = stored.assignment.entries[bucket]!;
      if (owner !== "") this.#freeSinceMs.delete(bucket);
      else if (!this.#freeSinceMs.has(bucket)) this.#freeSinceMs.set(bucket, nowMs);
      if (owner !== this.identity || this.#owned.has(bucket)) continue;
      if (isCurrent) this.#start(bucket, epoch, stored.resourceVersion);
      else this.#mustRead = this.#mustActAgain = true;
    }
  }

  #start(bucket: Bucket, epoch: number, notBefore: string): void {
    const { transport, metrics } = this.#options;
    const name = bucketName(bucket);
    let wasActive = false;
    const owned: OwnedBucket = new OwnedBucket({
      bucket,
      epoch,
      notBefore,
      transport,
      clock: this.#clock,
      timing: this.#timing,
      mutations: this.#mutations,
      holdsLease: () => this.#lease.holds && this.#isOurs(bucket, epoch),
      onRefused: (reason) => metrics?.countFencedWrite(name, reason),
      onChange: () => {
        if (owned.state === "active" && !wasActive) {
          wasActive = true;
          const seconds = (this.#clock.monotonic() - owned.takenMs) / 1000;
          metrics?.observeTakeover(seconds);
          this.#logger.info({ bucket: name, epoch, seconds }, "Working for a bucket");
        }
        this.#wake();
      },
    });
    this.#owned.set(bucket, owned);
    metrics?.setOwner(name, true);
    owned.start(this.#options.runBucket);
  }

  /** Also while there is no assignment: what was begun ends then. */
  #isOurs(bucket: Bucket, epoch: number): boolean {
    const entry = this.#store.latest?.assignment.entries[bucket];
    return entry === undefined || (entry.owner === this.identity && entry.epoch === epoch);
  }

  #plan({ assignment }: StoredAssignment): AssignmentEdits {
    const nowMs = this.#clock.monotonic();
    for (const [bucket, untilMs] of this.#unwantedUntilMs) if (untilMs <= nowMs) this.#unwantedUntilMs.delete(bucket);
    const plan = planAssignment({
      me: this.identity,
      assignment,
      live: this.#members.live(),
      buried: this.#buried(),
      isSettled: this.#members.sameForMs >= this.#timing.settleMs,
      isStopping: this.#isStopping,
      freeForMs: (bucket) => nowMs - (this.#freeSinceMs.get(bucket) ?? nowMs),
      unwanted: new Set(this.#unwantedUntilMs.keys()),
    });
    for (const bucket of plan.release) void this.#owned.get(bucket)?.drain();
    const drained = [...this.#owned.values()].filter(({ state }) => state === "drained");
    const release = drained.map(({ bucket }) => bucket);
    const isBarred = this.#options.obstacle?.() !== undefined;
    const failed = new Set(drained.filter(({ failure }) => failure !== undefined).map(({ bucket }) => bucket));
    return { ...plan, release, failed, take: this.#lease.holds && !isBarred ? plan.take : [] };
  }

  /** Who never writes again: those whose Leases are seized or gone. */
  #buried(): ReadonlySet<string> {
    const unseized = this.#mutations.has("no seizing") ? this.#members.silent().map((lease) => identityOf(lease)!) : [];
    return new Set([...this.#members.buried(), ...this.#gone, ...unseized]);
  }

  /**
   * Finds the owners whose Leases somebody deleted: without it a member cannot renew, and after a lease's time it has ended. The
   * watch may have missed a Lease, so the server is asked.
   */
  async #findGone({ assignment }: StoredAssignment, signal: AbortSignal): Promise<void> {
    const nowMs = this.#clock.monotonic();
    const owners = assignment.entries.map(({ owner }) => owner);
    const absent = new Set(owners.filter((owner) => owner !== "" && !this.#members.has(owner)));
    for (const owner of this.#absentSinceMs.keys()) if (!absent.has(owner)) this.#absentSinceMs.delete(owner);
    for (const owner of this.#gone) if (!absent.has(owner)) this.#gone.delete(owner);
    for (const owner of absent) if (!this.#absentSinceMs.has(owner)) this.#absentSinceMs.set(owner, nowMs);
    for (const [owner, sinceMs] of this.#absentSinceMs) {
      if (this.#gone.has(owner) || nowMs - sinceMs < this.#timing.leaseDurationMs) continue;
      try {
        const limit = { clock: this.#clock, limitMs: this.#timing.requestTimeoutMs, signals: [signal] };
        this.#members.saw(await bounded((bound) => this.#getLease(owner, bound), limit));
        // Of another kind, it is nobody who could be judged here.
        this.#absentSinceMs.set(owner, nowMs);
      } catch (error) {
        if (!isNotFound(error)) throw error;
        this.#gone.add(owner);
      }
    }
  }

  #getLease(identity: string, signal: AbortSignal): Promise<DeepReadonly<Lease>> {
    const { client, namespace } = this.#options;
    return client.resource(leases).get(leaseName(identity), { namespace, signal });
  }

  /**
   * Takes the Leases of those who are silent, so that they cannot renew them any more: only who lost its Lease is dead. Leases of
   * the dead go when nothing is theirs any more.
   */
  async #seize(signal: AbortSignal): Promise<void> {
    if (this.#mutations.has("no seizing")) return;
    const client = this.#options.client.resource(leases);
    const limit = { clock: this.#clock, limitMs: this.#timing.requestTimeoutMs, signals: [signal] };
    for (const lease of this.#members.silent()) {
      const identity = identityOf(lease)!;
      const seized = { ...lease, spec: { ...lease.spec, holderIdentity: "" } };
      try {
        this.#members.saw(await bounded((bound) => client.update(seized, { signal: bound }), limit));
        this.#logger.warn({ member: identity }, "Took the lease of a silent member");
      } catch (error) {
        if (isNotFound(error)) this.#members.sawDeleted(lease);
        else if (!isConflict(error)) throw error;
        // It lives, and it is the watch that is silent.
        else this.#members.saw(await bounded((bound) => this.#getLease(identity, bound), limit));
      }
    }
    const entries = this.#store.latest?.assignment.entries ?? [];
    for (const identity of this.#members.buried()) {
      if (entries.some(({ owner }) => owner === identity)) continue;
      const lease = this.#members.leaseOf(identity)!;
      const { namespace, name = "", resourceVersion = "" } = lease.metadata;
      const options = { namespace, preconditions: { resourceVersion } };
      await bounded((bound) => client.delete(name, { ...options, signal: bound }), limit).catch(() => undefined);
    }
  }

  /** Makes an assignment where there is none, once nobody can have anything of an earlier one. */
  async #makeAnew(signal: AbortSignal): Promise<void> {
    const sinceMs = this.#noAssignmentSinceMs ?? this.#clock.monotonic();
    if (this.#isStopping || this.#owned.size > 0) return;
    if (this.#clock.monotonic() - sinceMs < this.#timing.leaseDurationMs) {
      this.#mustRead = true;
      return;
    }
    await this.#store.create(signal);
    this.#logger.info({ name: assignmentName(this.#group) }, "Made an assignment");
    this.#mustActAgain = true;
  }

  #tell({ assignment }: StoredAssignment, { take, release }: AssignmentEdits): void {
    for (const bucket of take) {
      const from = assignment.entries[bucket]!.owner;
      this.#handoff(bucket, from === "" ? "free" : "dead", "Took a bucket", from === "" ? {} : { from });
    }
    for (const bucket of release) {
      const failure = this.#owned.get(bucket)?.failure;
      if (failure !== undefined) {
        this.#unwantedUntilMs.set(bucket, this.#clock.monotonic() + this.#timing.unwantedMs);
        this.#logger.error({ bucket: bucketName(bucket), err: failure.message }, "Gave up a bucket that failed");
      }
      const reason = failure !== undefined ? "failure" : this.#isStopping ? "stop" : "balance";
      this.#handoff(bucket, reason, "Gave up a bucket");
    }
  }

  #handoff(bucket: Bucket, reason: HandoffReason, message: string, more: object = {}): void {
    this.#options.metrics?.countHandoff(reason);
    this.#logger.info({ bucket: bucketName(bucket), reason, ...more }, message);
  }

  /** Has nothing any more: others need not wait. */
  async #leave(): Promise<void> {
    const left = this.#store.latest === undefined ? [] : bucketsOf(this.#store.latest.assignment, this.identity);
    if (left.length > 0) {
      this.#logger.warn({ buckets: left.map(bucketName) }, "Stopped without giving up all buckets");
      return;
    }
    await this.#lease.remove(new AbortController().signal).catch((error: unknown) => {
      this.#logger.warn({ err: errorMessage(error) }, "Failed to remove the lease of this member");
    });
  }

  async #pause(signal: AbortSignal): Promise<void> {
    if (this.#mustActAgain) {
      this.#mustActAgain = false;
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
    this.#mustActAgain = false;
  }

  #wake(): void {
    this.#mustActAgain = true;
    this.#wakeUp?.();
  }

  /** Once for as long as it stays the same. */
  #report(message: string, error: unknown): void {
    const err = errorMessage(error);
    this.#logger[err === this.#trouble ? "debug" : "warn"]({ err }, message);
    this.#trouble = err;
  }
}

/** Renewing keeps no simulation going: the work does. */
const BACKGROUND = { background: true } as const;

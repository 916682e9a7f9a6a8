import { type DeepReadonly, type Lease, compareResourceVersions, leases } from "@kubewright/api";
import { type Client, errorMessage, isNotFound, reasonOf } from "@kubewright/client";
import { type Clock, type Logger, type Random, standardErrorLogger } from "@kubewright/clock";

import type { EventSink } from "./event-sink.js";
import { type LeaderElectionRecord, fingerprintOf, recordOf } from "./leader-election-record.js";
import { LeaseLock } from "./lease-lock.js";
import { LeaseWatch } from "./lease-watch.js";
import { type RenewalDeferral, RenewalSchedule } from "./renewal-deferral.js";
import type { Runnable } from "./runnable.js";
import { StopTimeoutError, withStopDeadline } from "./stop-deadline.js";
import { withTimeout } from "./with-timeout.js";

export interface LeaderElectorOptions {
  /**
   * Preferably a dedicated client without a rate limit and with a separate connection, so that other traffic cannot
   * delay a renewal.
   */
  readonly client: Pick<Client, "resource">;
  /** Wall time is only written to the Lease. The elector measures expiry in monotonic time. */
  readonly clock: Clock;
  readonly random: Random;
  /** Namespace of the Lease, for example `kube-system`. */
  readonly namespace: string;
  /** Name of the Lease. */
  readonly name: string;
  /** Distinguishes this candidate from all others, also from earlier ones on the same machine. */
  readonly identity: string;
  /**
   * Milliseconds that other candidates wait after the last change they observed before they take over. Default 15,000.
   */
  readonly leaseDurationMs?: number;
  /** Milliseconds that the leader tries to renew before it stops leading. Default 10,000. */
  readonly renewDeadlineMs?: number;
  /** Milliseconds between attempts. Default 2,000. */
  readonly retryPeriodMs?: number;
  /**
   * Releases the lease on stop, after the leader's work has ended, so that another candidate can lead immediately.
   * Default false.
   */
  readonly releaseOnCancel?: boolean;
  /**
   * Milliseconds that the leader's work may take to end after a stop; may be infinite. Work that takes longer is
   * abandoned, and the lease is then not released. Default 60,000: more than the maximum of a `ReconcileLoop` and an
   * `EventRecorder` together.
   */
  readonly stopTimeoutMs?: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** Default: the leader sends a request for every renewal, as against any real cluster. */
  readonly renewalDeferral?: RenewalDeferral | undefined;
  readonly callbacks: LeaderCallbacks;
  readonly events?: EventSink;
  readonly metrics?: LeaderElectionMetrics | undefined;
  /** Default: warnings and errors to standard error. */
  readonly logger?: Logger;
}

export interface LeaderCallbacks {
  /**
   * Runs the leader's work. The signal aborts when leadership ends. If the work rejects, leadership ends and `run`
   * rejects. A rejection after the abort is only logged, unless it is a {@link StopTimeoutError} for abandoned work.
   */
  readonly onStartedLeading: (signal: AbortSignal) => Promise<void> | void;
  /**
   * Called once when the elector stops, also if it never led. After a loss of leadership the work's signal has aborted,
   * but the work may not have ended.
   */
  readonly onStoppedLeading: () => void;
  /** Called when the leader changes: to another candidate, to this one, or to none (`""`). */
  readonly onNewLeader?: (identity: string) => void;
}

/** Records `leader_election_master_status` and `leader_election_slowpath_total`. */
export interface LeaderElectionMetrics {
  setLeading(leaseName: string, leading: boolean): void;
  countSlowPath(leaseName: string): void;
}

const STOP_TIMEOUT_MS = 60_000;
/** A waiting candidate extends the retry period by a random part of up to this factor. */
const JITTER_FACTOR = 1.2;
/**
 * After the lease expires, candidates spread their attempts over this part of the retry period, or over
 * `EXPIRY_JITTER_MS` if that is shorter.
 */
const EXPIRY_JITTER_FACTOR = 0.25;
const EXPIRY_JITTER_MS = 500;

/**
 * One candidate for leadership over a Lease. `run` waits to lead, then leads. It resolves when the signal aborts and
 * rejects when leadership is lost; it does not retry by itself. It keeps the process alive. Candidates in Go and
 * TypeScript can share a Lease.
 *
 * A waiting candidate also watches the Lease. It makes an attempt as soon as the lease is released or expires. It
 * continues to poll, in case the watch is refused or hangs.
 *
 * Leadership is exclusive as long as all clocks run at about the same rate; their times may differ. Further differences
 * from upstream:
 *
 * - After an abort, the elector renews the lease until the leader's work has ended. It releases the lease only then,
 *   and only if the Lease still names this candidate.
 * - Each request times out after half the renew deadline (at least 1 s), as in kube-controller-manager's election
 *   client.
 *
 * Upstream: client-go tools/leaderelection/leaderelection.go.
 */
export class LeaderElector implements Runnable {
  readonly name: string;
  readonly identity: string;
  readonly #lock: LeaseLock;
  readonly #watch: LeaseWatch;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #leaseDurationMs: number;
  readonly #renewDeadlineMs: number;
  readonly #retryPeriodMs: number;
  readonly #requestTimeoutMs: number;
  readonly #releaseOnCancel: boolean;
  readonly #stopTimeoutMs: number;
  readonly #callbacks: LeaderCallbacks;
  readonly #events: EventSink | undefined;
  readonly #metrics: LeaderElectionMetrics | undefined;
  readonly #logger: Logger;
  readonly #renewalDeferral: RenewalDeferral | undefined;
  /** Whether renewals are deferred: the Lease then counts as renewed whenever a renewal is due. */
  #isDeferred = false;
  #observed: LeaderElectionRecord = {
    holderIdentity: "",
    leaseDurationSeconds: 0,
    acquireTimeMs: undefined,
    renewTimeMs: undefined,
    leaseTransitions: 0,
  };
  #observedFingerprint = "";
  /** Monotonic time at which the record was last observed to change. */
  #observedMs = 0;
  /**
   * Monotonic time at which the last successful write of the record was sent. Other candidates may measure the lease
   * from then.
   */
  #renewedMs = Number.NEGATIVE_INFINITY;
  #reportedLeader = "";
  #running = false;
  /** Ends the pause before the next attempt. */
  #wakeUp: (() => void) | undefined;
  /** An event during an attempt requires another attempt immediately. */
  #mustRetry = false;
  /** Kind of error of all attempts since the last successful one; `undefined` if that was the latest attempt. */
  #lastFailureKind: string | undefined;

  /** @throws Error with upstream's message when the durations are inconsistent. */
  constructor(options: LeaderElectorOptions) {
    const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options;
    if (!(leaseDurationMs > renewDeadlineMs)) throw new Error("leaseDuration must be greater than renewDeadline");
    if (!(renewDeadlineMs > retryPeriodMs * JITTER_FACTOR))
      throw new Error("renewDeadline must be greater than retryPeriod*JitterFactor");
    if (leaseDurationMs < 1_000)
      throw new Error("leaseDuration must be at least one second: a Lease has whole seconds");
    if (!(renewDeadlineMs > 0)) throw new Error("renewDeadline must be greater than zero");
    if (!(retryPeriodMs > 0)) throw new Error("retryPeriod must be greater than zero");
    if (options.identity === "") throw new Error("Lock identity is empty");
    if (options.namespace === "" || options.name === "") throw new Error("the Lease needs a namespace and a name");
    this.name = `leader election ${options.namespace}/${options.name}`;
    this.identity = options.identity;
    this.#lock = new LeaseLock(options);
    this.#watch = new LeaseWatch({ ...options, onChange: (lease) => this.#leaseChanged(lease) });
    this.#clock = options.clock;
    this.#random = options.random.fork(`leader election of ${options.identity}`);
    this.#leaseDurationMs = leaseDurationMs;
    this.#renewDeadlineMs = renewDeadlineMs;
    this.#retryPeriodMs = retryPeriodMs;
    this.#requestTimeoutMs = Math.max(1_000, renewDeadlineMs / 2);
    this.#releaseOnCancel = options.releaseOnCancel ?? false;
    this.#stopTimeoutMs = options.stopTimeoutMs ?? STOP_TIMEOUT_MS;
    this.#callbacks = options.callbacks;
    this.#events = options.events;
    this.#metrics = options.metrics;
    this.#renewalDeferral = options.renewalDeferral;
    this.#logger = options.logger ?? standardErrorLogger(options.clock, "leader-election");
    this.#metrics?.setLeading(this.#lock.name, false);
  }

  /** Whether the last observed record names this candidate. */
  get isLeader(): boolean {
    return this.#observed.holderIdentity === this.identity;
  }

  /**
   * Whether this candidate may act as leader now. Also false when the process was delayed so long that the lease was
   * not renewed in time and no timer has fired yet.
   */
  get mayActAsLeader(): boolean {
    return this.isLeader && (this.#isDeferred || this.#clock.monotonic() - this.#renewedMs < this.#renewDeadlineMs);
  }

  /** The leader according to the last observed record; `""` for none. */
  get leader(): string {
    return this.#observed.holderIdentity;
  }

  /**
   * Health check: returns an Error when this candidate counts as leader but has not renewed within the lease duration
   * plus `toleranceMs`.
   */
  checkHealth(toleranceMs: number): Error | undefined {
    if (!this.isLeader || this.#isDeferred) return undefined;
    if (this.#clock.monotonic() - this.#observedMs <= this.#leaseDurationMs + toleranceMs) return undefined;
    return new Error(`failed election to renew leadership on lease ${this.#lock.name}`);
  }

  /**
   * May be called again after it has ended.
   *
   * @throws Error when it is already running, or when leadership was lost (upstream's `Run` returns then, and the
   * program has to exit); {@link StopTimeoutError} when the work misses the stop deadline; any error of the callbacks
   * except `onNewLeader`.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#running) throw new Error(`${this.name} is running already`);
    this.#running = true;
    const release = this.#clock.keepAlive();
    try {
      if (await this.#acquire(signal)) await this.#lead(signal);
      else this.#logRejection("onStoppedLeading", this.#callbacks.onStoppedLeading());
    } finally {
      this.#running = false;
      release();
    }
  }

  async #lead(signal: AbortSignal): Promise<void> {
    const leading = new AbortController();
    const renewing = new AbortController();
    let failure: { readonly error: unknown } | undefined;
    let ended = false;
    let abandoned = false;
    const work = async (): Promise<void> => this.#callbacks.onStartedLeading(leading.signal);
    const lead = async (): Promise<void> => {
      try {
        await withStopDeadline(work(), {
          clock: this.#clock,
          signal: leading.signal,
          limitMs: this.#stopTimeoutMs,
          unfinished: () => `${this.name}: the leader's work`,
        });
      } catch (error) {
        abandoned = error instanceof StopTimeoutError;
        if (!leading.signal.aborted || abandoned) failure = { error };
        if (leading.signal.aborted && error !== leading.signal.reason)
          this.#logger.error({ lock: this.#describe(), err: errorMessage(error) }, "The leader's work failed to stop");
        leading.abort(error);
      }
      ended = true;
      if (leading.signal.aborted) renewing.abort(leading.signal.reason);
    };
    // The lease is renewed until the work has ended, so that no other candidate starts before.
    const onAbort = (): void => {
      leading.abort(signal.reason);
      if (ended) renewing.abort(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const leadDone = lead();

    const lossError = await this.#renew(renewing.signal);
    signal.removeEventListener("abort", onAbort);
    this.#metrics?.setLeading(this.#lock.name, false);
    leading.abort(lossError ?? signal.reason);
    this.#recordEvent("stopped leading");
    try {
      this.#logRejection("onStoppedLeading", this.#callbacks.onStoppedLeading());
    } catch (error) {
      failure ??= { error };
    }
    await leadDone;
    // Abandoned work may still write, so the other candidates have to wait until the lease expires.
    if (this.#releaseOnCancel && !abandoned) await this.#release();
    if (failure !== undefined) throw failure.error;
    if (lossError !== undefined) throw lossError;
  }

  /** Returns false when the signal aborts before this candidate leads. */
  async #acquire(signal: AbortSignal): Promise<boolean> {
    this.#logger.info({ lock: this.#describe() }, "Attempting to acquire leader lease...");
    const stopWatching = new AbortController();
    let watching: Promise<void> | undefined;
    try {
      while (!signal.aborted) {
        if (await this.#attempt(signal)) {
          this.#metrics?.setLeading(this.#lock.name, true);
          this.#logger.info({ lock: this.#describe() }, "Successfully acquired lease");
          this.#recordEvent("became leader");
          return true;
        }
        watching ??= this.#watch.run(stopWatching.signal);
        await this.#pause(signal);
      }
      return false;
    } finally {
      stopWatching.abort(new Error("not waiting for the lease any more"));
    }
  }

  /** Waits until the next poll is due, the lease expires, or the watch reports a release. */
  async #pause(signal: AbortSignal): Promise<void> {
    const pollMs = this.#retryPeriodMs * (1 + this.#random.next() * JITTER_FACTOR);
    const spreadMs = this.#random.next() * Math.min(EXPIRY_JITTER_MS, this.#retryPeriodMs * EXPIRY_JITTER_FACTOR);
    const validMs = this.#validUntilMs() - this.#clock.monotonic();
    const expires = this.#observed.holderIdentity !== "" && validMs > 0;
    const woken = Promise.withResolvers<void>();
    const timer = this.#clock.setTimer(expires ? Math.min(pollMs, validMs + spreadMs) : pollMs, woken.resolve);
    const onAbort = (): void => woken.resolve();
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    this.#wakeUp = woken.resolve;
    if (this.#mustRetry) woken.resolve();
    await woken.promise;
    this.#mustRetry = false;
    this.#wakeUp = undefined;
    timer.cancel();
    signal.removeEventListener("abort", onAbort);
  }

  /** Records a Lease from the watch as observed: the lease is valid for its duration from now on. */
  #leaseChanged(lease: DeepReadonly<Lease> | undefined): void {
    if (lease === undefined) return this.#wake();
    const record = recordOf(lease);
    // A watch may lag behind reads. This candidate's own writes, from an earlier run, are also no change.
    if (record.holderIdentity === this.identity || this.#isOutdated(lease)) return;
    if (fingerprintOf(record) !== this.#observedFingerprint) this.#observe(record);
    if (record.holderIdentity === "") this.#wake();
  }

  #wake(): void {
    this.#mustRetry = true;
    this.#wakeUp?.();
  }

  #isOutdated({ metadata }: DeepReadonly<Lease>): boolean {
    const known = this.#lock.lease?.metadata.resourceVersion;
    if (known === undefined || metadata.resourceVersion === undefined) return false;
    return (compareResourceVersions(metadata.resourceVersion, known) ?? 0) < 0;
  }

  /** Renews until a round fails (returns the error to stop with) or the signal aborts (returns `undefined`). */
  async #renew(signal: AbortSignal): Promise<Error | undefined> {
    while (!signal.aborted) {
      if (await this.#renewOnce(signal)) {
        await this.#waitForRenewal(signal);
        continue;
      }
      if (signal.aborted) return undefined;
      const err = "timed out waiting for the condition";
      this.#logger.error({ lock: this.#describe(), err }, "Failed to renew lease");
      return new Error(`failed to renew lease ${this.#describe()}: ${err}`);
    }
    return undefined;
  }

  /** Waits until a renewal has to be sent. Until then others may renew the Lease: see {@link RenewalDeferral}. */
  async #waitForRenewal(signal: AbortSignal): Promise<void> {
    const sleep = (durationMs: number): Promise<void> =>
      this.#clock.sleep(durationMs, signal, BACKGROUND).catch(() => undefined);
    const { lease } = this.#lock;
    if (this.#renewalDeferral === undefined || lease === undefined) return sleep(this.#retryPeriodMs);
    const schedule = new RenewalSchedule({
      lease,
      signal,
      clock: this.#clock,
      periodMs: this.#retryPeriodMs,
      onRenewed: (renewed, { ageMs, renewTimeMs }) => {
        this.#lock.adopt(renewed);
        this.#observe({ ...this.#observed, renewTimeMs });
        this.#observedMs -= ageMs;
        this.#renewedMs = this.#observedMs;
      },
    });
    const deferred = this.#renewalDeferral.defer(schedule);
    if (deferred !== undefined) {
      this.#isDeferred = true;
      await deferred;
      this.#isDeferred = false;
    }
    await sleep(schedule.nextInMs);
  }

  /** Runs one round: attempts at fixed ticks from its start, until one succeeds or the renew deadline has passed. */
  async #renewOnce(signal: AbortSignal): Promise<boolean> {
    const startMs = this.#clock.monotonic();
    const deadlineMs = startMs + this.#renewDeadlineMs;
    for (let tickMs = startMs; !signal.aborted;) {
      if (await this.#attempt(signal, deadlineMs)) return true;
      // A tick missed during the attempt fires immediately and only once, like a tick of Go's `time.Ticker`.
      const missedMs =
        startMs + Math.floor((this.#clock.monotonic() - startMs) / this.#retryPeriodMs) * this.#retryPeriodMs;
      tickMs = Math.max(tickMs + this.#retryPeriodMs, missedMs);
      const nextMs = Math.min(tickMs, deadlineMs);
      await this.#clock.sleep(nextMs - this.#clock.monotonic(), signal, BACKGROUND).catch(() => undefined);
      if (this.#clock.monotonic() >= deadlineMs) return false;
    }
    return false;
  }

  async #attempt(signal: AbortSignal, deadlineMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    const leads = await this.#tryAcquireOrRenew(signal, deadlineMs).then(
      (answer) => {
        if (this.#lastFailureKind !== undefined)
          this.#logger.info({ lock: this.#describe() }, "Lease is within reach again");
        this.#lastFailureKind = undefined;
        return answer;
      },
      (error: unknown) => {
        if (!signal.aborted) this.#logFailure(error);
        return false;
      },
    );
    const { holderIdentity } = this.#observed;
    if (holderIdentity !== this.#reportedLeader) {
      this.#reportedLeader = holderIdentity;
      this.#reportLeader(holderIdentity);
    }
    return leads;
  }

  /**
   * Logs a warning once per kind of error (no answer, or the answer's reason), because a standby may retry for days.
   * Repetitions are logged at `debug`.
   */
  #logFailure(error: unknown): void {
    const kind = reasonOf(error) ?? "no answer";
    const level = kind === this.#lastFailureKind ? "debug" : "warn";
    this.#lastFailureKind = kind;
    this.#logger[level]({ lock: this.#describe(), err: errorMessage(error) }, "Failed to acquire or renew lease");
  }

  /** Calls `onNewLeader`. An exception in it must end neither leadership nor the wait for it. */
  #reportLeader(identity: string): void {
    try {
      this.#logRejection("onNewLeader", this.#callbacks.onNewLeader?.(identity));
    } catch (error) {
      this.#logger.error({ lock: this.#describe(), err: errorMessage(error) }, "onNewLeader failed");
    }
  }

  /**
   * Logs the rejection of a callback that returned a promise. The elector does not await it, and an unhandled rejection
   * would end the process.
   */
  #logRejection(callback: string, returned: unknown): void {
    if (!(returned instanceof Promise)) return;
    returned.catch((error: unknown) =>
      this.#logger.error({ lock: this.#describe(), err: errorMessage(error) }, `${callback} failed`),
    );
  }

  /** @throws the rejected request's error. */
  async #tryAcquireOrRenew(signal: AbortSignal, deadlineMs: number): Promise<boolean> {
    const request = <T>(send: (signal: AbortSignal) => Promise<T>): Promise<T> =>
      this.#sendWithTimeout(send, deadlineMs, signal);
    const write = async (send: (signal: AbortSignal) => Promise<void>): Promise<true> => {
      const sentMs = this.#clock.monotonic();
      await request(send);
      this.#observe(record);
      this.#renewedMs = sentMs;
      return true;
    };
    const nowMs = this.#clock.now();
    let record: LeaderElectionRecord = {
      holderIdentity: this.identity,
      leaseDurationSeconds: Math.floor(this.#leaseDurationMs / 1000),
      acquireTimeMs: nowMs,
      renewTimeMs: nowMs,
      leaseTransitions: 0,
    };
    if (this.isLeader && this.#isLeaseValid()) {
      const { acquireTimeMs, leaseTransitions } = this.#observed;
      record = { ...record, acquireTimeMs, leaseTransitions };
      try {
        return await write((bounded) => this.#lock.update(record, bounded));
      } catch (error) {
        this.#logger.debug(
          { lock: this.#describe(), err: errorMessage(error) },
          "Failed to update lease optimistically, falling back to slow path",
        );
      }
    }
    const found = await request((bounded) => this.#read(bounded));
    if (found === undefined) return write((bounded) => this.#lock.create(record, bounded));
    if (fingerprintOf(found) !== this.#observedFingerprint) this.#observe(found);
    const { holderIdentity, acquireTimeMs, leaseTransitions } = this.#observed;
    if (holderIdentity !== "" && !this.isLeader && this.#isLeaseValid()) return false;
    if (this.isLeader) {
      record = { ...record, acquireTimeMs, leaseTransitions };
      this.#metrics?.countSlowPath(this.#lock.name);
    } else {
      record = { ...record, acquireTimeMs: nowMs, leaseTransitions: leaseTransitions + 1 };
    }
    return write((bounded) => this.#lock.update(record, bounded));
  }

  async #read(signal: AbortSignal): Promise<LeaderElectionRecord | undefined> {
    try {
      return await this.#lock.get(signal);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #release(): Promise<void> {
    const deadlineMs = this.#clock.monotonic() + this.#renewDeadlineMs;
    try {
      const found = await this.#sendWithTimeout((bounded) => this.#lock.get(bounded), deadlineMs);
      // Reads the Lease instead of using the last observed record: upstream could overwrite the lease of a candidate
      // that took over unobserved.
      if (found.holderIdentity !== this.identity) return;
      const nowMs = this.#clock.now();
      const released = {
        ...found,
        holderIdentity: "",
        leaseDurationSeconds: 1,
        acquireTimeMs: nowMs,
        renewTimeMs: nowMs,
      };
      await this.#sendWithTimeout((bounded) => this.#lock.update(released, bounded), deadlineMs);
      this.#observe(released);
    } catch (error) {
      this.#logger.error({ lock: this.#describe(), err: errorMessage(error) }, "Failed to release lease");
    }
  }

  #observe(record: LeaderElectionRecord): void {
    this.#observed = record;
    this.#observedFingerprint = fingerprintOf(record);
    this.#observedMs = this.#clock.monotonic();
  }

  /** Uses the duration in the record, from the time this candidate observed the change. */
  #isLeaseValid(): boolean {
    return this.#validUntilMs() > this.#clock.monotonic();
  }

  #validUntilMs(): number {
    return this.#observedMs + this.#observed.leaseDurationSeconds * 1000;
  }

  /** Sends a request that ends after the request timeout, or at the deadline if that is earlier. */
  #sendWithTimeout<T>(send: (signal: AbortSignal) => Promise<T>, deadlineMs: number, signal?: AbortSignal): Promise<T> {
    const limitMs = Math.min(this.#requestTimeoutMs, deadlineMs - this.#clock.monotonic());
    return withTimeout(send, { clock: this.#clock, limitMs, ...(signal === undefined ? {} : { signal }) });
  }

  #recordEvent(change: string): void {
    const { lease } = this.#lock;
    if (lease === undefined) return;
    this.#events?.event(lease, leases, "Normal", "LeaderElection", `${this.identity} ${change}`);
  }

  #describe(): string {
    return `${this.#lock.namespace}/${this.#lock.name}`;
  }
}

/** Background timers: the simulation may end while only renewals are pending. */
const BACKGROUND = { background: true } as const;

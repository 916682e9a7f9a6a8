import type { DeepReadonly, Lease } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";

/**
 * Renews a Lease for its holder while nothing can observe the Lease, and nothing can prevent a renewal. For simulated
 * time, in which an idle leader's renewals are most of the work. A cluster in process has one: `leaseRenewals` of its
 * API server, or `renewalDeferral` of a cluster with faults.
 */
export interface RenewalDeferral {
  /**
   * @returns A promise that resolves when the holder has to renew by requests again. Every renewal due by then is stored.
   * `undefined` if the holder must not defer renewals now.
   */
  defer(renewals: RenewalSchedule): Promise<void> | undefined;
}

/** A renewal that was due while renewals are deferred. */
export interface DueRenewal {
  /** Wall time of the renewal by the holder's clock, in epoch milliseconds. */
  readonly renewTimeMs: number;
  /** Milliseconds since the renewal was due. */
  readonly ageMs: number;
}

/** The renewals that a holder would send: one per period, from the creation of this object on. */
export class RenewalSchedule {
  /** The Lease as its holder has written it last. */
  readonly lease: DeepReadonly<Lease>;
  /** Ends the deferral when it aborts. */
  readonly signal: AbortSignal;
  readonly onRenewed: (lease: DeepReadonly<Lease>, renewal: DueRenewal) => void;
  readonly #clock: Clock;
  readonly #periodMs: number;
  readonly #startMs: number;
  /** Number of renewals that were taken or skipped. */
  #taken = 0;

  constructor(options: {
    readonly lease: DeepReadonly<Lease>;
    readonly signal: AbortSignal;
    readonly clock: Clock;
    readonly periodMs: number;
    /** Called with the stored Lease after a renewal. */
    readonly onRenewed: (lease: DeepReadonly<Lease>, renewal: DueRenewal) => void;
  }) {
    this.lease = options.lease;
    this.signal = options.signal;
    this.onRenewed = options.onRenewed;
    this.#clock = options.clock;
    this.#periodMs = options.periodMs;
    this.#startMs = options.clock.monotonic();
  }

  /** Returns the latest renewal that is due by now; `undefined` if it was taken before. */
  readonly takeDue = (): DueRenewal | undefined => {
    const elapsedMs = this.#clock.monotonic() - this.#startMs;
    const due = Math.floor(elapsedMs / this.#periodMs);
    if (due <= this.#taken) return undefined;
    this.#taken = due;
    const ageMs = elapsedMs - due * this.#periodMs;
    return { renewTimeMs: this.#clock.now() - ageMs, ageMs };
  };

  /** Milliseconds until the next renewal is due. */
  get nextInMs(): number {
    const elapsedMs = this.#clock.monotonic() - this.#startMs;
    return (Math.floor(elapsedMs / this.#periodMs) + 1) * this.#periodMs - elapsedMs;
  }
}

import { type DeepReadonly, type Lease, formatMicroTime, formatTime, parseTime } from "@kubewright/api";

/** The content of a Lease: who leads. Times come from the holder's clock and are never compared with another clock. */
export interface LeaderElectionRecord {
  /** `""` when the Lease is released. */
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  /** Epoch milliseconds. */
  readonly acquireTimeMs: number | undefined;
  readonly renewTimeMs: number | undefined;
  readonly leaseTransitions: number;
}

export function recordOf(lease: DeepReadonly<Lease>): LeaderElectionRecord {
  const {
    holderIdentity = "",
    leaseDurationSeconds = 0,
    acquireTime,
    renewTime,
    leaseTransitions = 0,
  } = lease.spec ?? {};
  return {
    holderIdentity,
    leaseDurationSeconds,
    acquireTimeMs: parseTime(acquireTime),
    renewTimeMs: parseTime(renewTime),
    leaseTransitions,
  };
}

/** Converts a record to a Lease spec. It contains all five members and replaces the whole spec. */
export function leaseSpecOf(record: LeaderElectionRecord): NonNullable<Lease["spec"]> {
  const { holderIdentity, leaseDurationSeconds, acquireTimeMs, renewTimeMs, leaseTransitions } = record;
  return {
    holderIdentity,
    leaseDurationSeconds,
    ...(acquireTimeMs === undefined ? {} : { acquireTime: formatMicroTime(acquireTimeMs) }),
    ...(renewTimeMs === undefined ? {} : { renewTime: formatMicroTime(renewTimeMs) }),
    leaseTransitions,
  };
}

/**
 * Returns the same string for records that count as unchanged. Upstream's serialisation has whole seconds, so two
 * renewals within one second are equal.
 */
export function fingerprintOf(record: LeaderElectionRecord): string {
  const { acquireTimeMs, renewTimeMs, ...rest } = record;
  return JSON.stringify([
    rest,
    acquireTimeMs === undefined ? null : formatTime(acquireTimeMs),
    renewTimeMs === undefined ? null : formatTime(renewTimeMs),
  ]);
}

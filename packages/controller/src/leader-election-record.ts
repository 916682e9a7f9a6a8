import { type DeepReadonly, type Lease, formatMicroTime, formatTime, parseTime } from "@kubewright/api";

/** Who leads, as a Lease says it. Times are what the holder's clock showed: never compared with anybody else's. */
export interface LeaderElectionRecord {
  /** `""`: released. */
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

/** All five members are always written; whatever else the spec held is replaced. */
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

/** Equal for records that count as unchanged. Upstream's serialisation has whole seconds, so two renewals within one look the same. */
export function fingerprintOf(record: LeaderElectionRecord): string {
  const { acquireTimeMs, renewTimeMs, ...rest } = record;
  return JSON.stringify([
    rest,
    acquireTimeMs === undefined ? null : formatTime(acquireTimeMs),
    renewTimeMs === undefined ? null : formatTime(renewTimeMs),
  ]);
}

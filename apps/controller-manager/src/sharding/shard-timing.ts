import { type ShardTiming, shardTiming } from "@kubewright/sharding";

import { type LeaderElectionOptions, leaderElectionDefaults } from "../options/leader-election-options.js";

/** Of the duration of a lease, how much there is for the renew deadline and a request together: clocks may differ by the rest. */
const USABLE_FRACTION = 0.8;
/** As 8 s are of 15 s. */
const RENEW_FRACTION = 8 / 15;
const MAX_REQUEST_TIMEOUT_MS = 4_000;
const MIN_REQUEST_TIMEOUT_MS = 500;

/**
 * What the flags of leader election mean for replicas that share work. The renew deadline of a leader, when nobody set another,
 * would leave no time for requests: then it is 8/15 of the lease.
 *
 * @throws Error of one line when the durations do not fit each other.
 */
export function shardTimingOf(
  options: LeaderElectionOptions & { readonly controllerShutdownTimeoutMs: number },
): ShardTiming {
  const {
    leaderElectLeaseDurationMs: leaseDurationMs,
    leaderElectRenewDeadlineMs,
    controllerShutdownTimeoutMs,
  } = options;
  const isDefault = leaderElectRenewDeadlineMs === leaderElectionDefaults.leaderElectRenewDeadlineMs;
  const renewDeadlineMs = isDefault ? leaseDurationMs * RENEW_FRACTION : leaderElectRenewDeadlineMs;
  const requestTimeoutMs = Math.min(
    MAX_REQUEST_TIMEOUT_MS,
    Math.floor(leaseDurationMs * USABLE_FRACTION - renewDeadlineMs),
  );
  if (requestTimeoutMs < MIN_REQUEST_TIMEOUT_MS)
    throw new Error(
      `renewDeadline must be at least ${MIN_REQUEST_TIMEOUT_MS / 1_000}s shorter than ${USABLE_FRACTION} of leaseDuration`,
    );
  return shardTiming({
    leaseDurationMs,
    renewDeadlineMs,
    requestTimeoutMs,
    retryPeriodMs: options.leaderElectRetryPeriodMs,
    ...(controllerShutdownTimeoutMs > 0 ? { drainMs: controllerShutdownTimeoutMs } : {}),
  });
}

import { type ShardTiming, shardTiming } from "@kubewright/sharding";

import { type LeaderElectionOptions, leaderElectionOptions } from "../options/leader-election-options.js";

/**
 * Fraction of the lease duration for the renew deadline and a request together. The rest covers different clock rates.
 */
const USABLE_FRACTION = 0.8;
/** Fraction of the default: 8 s of 15 s. */
const RENEW_FRACTION = 8 / 15;
const MAX_REQUEST_TIMEOUT_MS = 4_000;
const MIN_REQUEST_TIMEOUT_MS = 500;

/**
 * Derives the timing of sharding from the flags of leader election. The default renew deadline of a leader would leave
 * no time for requests, so 8/15 of the lease duration replaces it.
 *
 * @throws Error with a one-line message when the durations are inconsistent.
 */
export function shardTimingOf(
  options: LeaderElectionOptions & { readonly controllerShutdownTimeoutMs: number },
): ShardTiming {
  const {
    leaderElectLeaseDurationMs: leaseDurationMs,
    leaderElectRenewDeadlineMs,
    controllerShutdownTimeoutMs,
  } = options;
  const isDefault = leaderElectRenewDeadlineMs === leaderElectionOptions.leaderElectRenewDeadlineMs.defaultValue;
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

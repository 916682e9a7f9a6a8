/** Milliseconds. */
export interface ShardTiming {
  /** For how long others hear nothing of a member before they take it for dead. Default 15,000. */
  readonly leaseDurationMs: number;
  /** For how long after a renewal was sent a member may write. Default 8,000. */
  readonly renewDeadlineMs: number;
  /** When the server and the client give up a request. Default 4,000. */
  readonly requestTimeoutMs: number;
  /** Between two renewals. Default 2,000. */
  readonly retryPeriodMs: number;
  /** How long work that was begun may take to end, before it is cut off. Default 10,000. */
  readonly drainMs: number;
  /** For how long members have to be the same before buckets move between the living. Default 30,000. */
  readonly rebalanceDelayMs: number;
  /** How long a bucket may take to sync, before another member is to try. Default 60,000. */
  readonly syncMs: number;
  /** For how long a member leaves such a bucket to others. Default 300,000. */
  readonly failureBackoffMs: number;
}

const DEFAULTS: ShardTiming = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 8_000,
  requestTimeoutMs: 4_000,
  retryPeriodMs: 2_000,
  drainMs: 10_000,
  rebalanceDelayMs: 30_000,
  syncMs: 60_000,
  failureBackoffMs: 300_000,
};

/** Clocks may differ by this part in how fast they go. */
const MAX_CLOCK_RATE_DIFFERENCE = 0.2;

/** @throws Error when a member could still write when others take it for dead. */
export function shardTiming(given: Partial<ShardTiming> = {}): ShardTiming {
  const timing = { ...DEFAULTS, ...given };
  const { leaseDurationMs, renewDeadlineMs, requestTimeoutMs, retryPeriodMs } = timing;
  if (!(renewDeadlineMs + requestTimeoutMs <= leaseDurationMs * (1 - MAX_CLOCK_RATE_DIFFERENCE)))
    throw new Error(
      "leaseDuration must be longer, by a quarter, than renewDeadline and requestTimeout together: what a member had begun would come after others took over",
    );
  if (!(retryPeriodMs > 0 && renewDeadlineMs > 2 * retryPeriodMs))
    throw new Error("renewDeadline must be longer than two of retryPeriod: one late renewal would stop all work");
  return timing;
}

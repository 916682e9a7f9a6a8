/** Durations of the protocol, in milliseconds. */
export interface ShardTiming {
  /** How long other members observe no renewal before a member counts as expired. Default 15,000. */
  readonly leaseDurationMs: number;
  /** How long after it sent a renewal a member may write. Default 8,000. */
  readonly renewDeadlineMs: number;
  /** Timeout of a request, at the client and at the API server. Default 4,000. */
  readonly requestTimeoutMs: number;
  /** Pause between two renewals. Default 2,000. */
  readonly retryPeriodMs: number;
  /** How long work in flight may take to finish before it is aborted. Default 10,000. */
  readonly drainMs: number;
  /** How long the set of members must be unchanged before buckets move between live members. Default 30,000. */
  readonly rebalanceDelayMs: number;
  /** How long a bucket may take to sync before another member tries. Default 60,000. */
  readonly syncMs: number;
  /** How long a member leaves a bucket that failed to other members; doubled by each further failure. Default 5,000. */
  readonly failureBackoffMs: number;
  /**
   * Upper limit of {@link failureBackoffMs}, and how long after a failure no bucket moves back from a live member.
   * Default 300,000.
   */
  readonly maxFailureBackoffMs: number;
}

const DEFAULTS: ShardTiming = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 8_000,
  requestTimeoutMs: 4_000,
  retryPeriodMs: 2_000,
  drainMs: 10_000,
  rebalanceDelayMs: 30_000,
  syncMs: 60_000,
  failureBackoffMs: 5_000,
  maxFailureBackoffMs: 300_000,
};

/** Largest tolerated difference between the rates of two clocks, as a fraction. */
const MAX_CLOCK_RATE_DIFFERENCE = 0.2;

/**
 * Applies the defaults.
 *
 * @throws Error when a member could still write after other members consider it expired.
 */
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

import type { Bucket } from "./bucket.js";

export interface FailureBackoffOptions {
  /** First delay, in milliseconds. Each further failure doubles it. */
  readonly initialMs: number;
  readonly maxMs: number;
}

interface Failure {
  readonly failedMs: number;
  readonly delayMs: number;
}

/**
 * How long a member leaves each bucket that failed to other members. A bucket that has not failed for `maxMs` after its
 * last delay starts at `initialMs` again. Times are monotonic, in milliseconds.
 */
export class FailureBackoff {
  readonly #options: FailureBackoffOptions;
  readonly #failures = new Map<Bucket, Failure>();

  constructor(options: FailureBackoffOptions) {
    this.#options = options;
  }

  recordFailure(bucket: Bucket, failedMs: number): void {
    const { initialMs, maxMs } = this.#options;
    const last = this.#failures.get(bucket);
    const isRepeated = last !== undefined && failedMs < last.failedMs + last.delayMs + maxMs;
    this.#failures.set(bucket, { failedMs, delayMs: isRepeated ? Math.min(2 * last.delayMs, maxMs) : initialMs });
  }

  /** Buckets that failed less than their delay ago. */
  delayed(nowMs: number): ReadonlySet<Bucket> {
    return this.#where(({ failedMs, delayMs }) => nowMs < failedMs + delayMs);
  }

  /** Buckets that failed less than `maxMs` ago. */
  recentlyFailed(nowMs: number): ReadonlySet<Bucket> {
    return this.#where(({ failedMs }) => nowMs < failedMs + this.#options.maxMs);
  }

  #where(matches: (failure: Failure) => boolean): ReadonlySet<Bucket> {
    return new Set([...this.#failures].filter(([, failure]) => matches(failure)).map(([bucket]) => bucket));
  }
}

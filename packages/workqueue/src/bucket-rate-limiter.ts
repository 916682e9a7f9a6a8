import { type Clock, TokenBucket } from "@kubewright/clock";

import type { RateLimiter } from "./rate-limiter.js";

/**
 * One token bucket for all items: `qps` per second, after a burst of `burst`. Every call takes a token permanently, so
 * a burst of n failures spreads over (n − burst) / qps seconds.
 */
export class BucketRateLimiter<T> implements RateLimiter<T> {
  readonly #bucket: TokenBucket;

  /** @throws RangeError if `qps` is not above zero or `burst` is less than one. */
  constructor({ clock, qps, burst }: { clock: Clock; qps: number; burst: number }) {
    if (!(qps > 0)) throw new RangeError(`qps of a bucket must be above zero, not ${qps}`);
    if (!(burst >= 1)) throw new RangeError(`burst of a bucket must be at least one, not ${burst}`);
    this.#bucket = new TokenBucket({ clock, perSecond: qps, burst });
  }

  when(_item: T): number {
    return this.#bucket.reserve();
  }

  forget(_item: T): void {}

  numRequeues(_item: T): number {
    return 0;
  }
}

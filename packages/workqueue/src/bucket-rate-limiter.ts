import { type Clock, TokenBucket } from "@kubewright/clock";

import type { RateLimiter } from "./rate-limiter.js";

/**
 * One token bucket for all items: `qps` per second, after a burst of `burst`. Every call takes a token for good, so a
 * burst of n failures spreads over (n − burst) / qps seconds.
 */
export class BucketRateLimiter<T> implements RateLimiter<T> {
  readonly #bucket: TokenBucket;

  constructor({ clock, qps, burst }: { clock: Clock; qps: number; burst: number }) {
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

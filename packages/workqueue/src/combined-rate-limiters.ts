import type { Clock } from "@kubewright/clock";

import { BucketRateLimiter } from "./bucket-rate-limiter.js";
import { ItemExponentialFailureRateLimiter } from "./item-rate-limiters.js";
import type { RateLimiter } from "./rate-limiter.js";

/** The longest delay of several limiters. Every limiter counts every failure. */
export class MaxOfRateLimiter<T> implements RateLimiter<T> {
  readonly #limiters: readonly RateLimiter<T>[];

  constructor(...limiters: readonly RateLimiter<T>[]) {
    this.#limiters = limiters;
  }

  when(item: T): number {
    return this.#limiters.reduce((max, limiter) => Math.max(max, limiter.when(item)), 0);
  }

  forget(item: T): void {
    for (const limiter of this.#limiters) limiter.forget(item);
  }

  numRequeues(item: T): number {
    return this.#limiters.reduce((max, limiter) => Math.max(max, limiter.numRequeues(item)), 0);
  }
}

/** Another limiter's delays, capped at `maxDelayMs`. */
export class WithMaxWaitRateLimiter<T> implements RateLimiter<T> {
  readonly #limiter: RateLimiter<T>;
  readonly #maxDelayMs: number;

  constructor({ limiter, maxDelayMs }: { limiter: RateLimiter<T>; maxDelayMs: number }) {
    this.#limiter = limiter;
    this.#maxDelayMs = maxDelayMs;
  }

  when(item: T): number {
    return Math.min(this.#limiter.when(item), this.#maxDelayMs);
  }

  forget(item: T): void {
    this.#limiter.forget(item);
  }

  numRequeues(item: T): number {
    return this.#limiter.numRequeues(item);
  }
}

/**
 * The default limiter of controllers: 5 ms doubling to 1000 s per item, and 10 per second (burst 100) over all items.
 */
export function defaultControllerRateLimiter<T>({ clock }: { clock: Clock }): RateLimiter<T> {
  return new MaxOfRateLimiter<T>(
    new ItemExponentialFailureRateLimiter({ baseDelayMs: 5, maxDelayMs: 1_000_000 }),
    new BucketRateLimiter({ clock, qps: 10, burst: 100 }),
  );
}

/** Per item only: 1 ms doubling to 1000 s. */
export function defaultItemBasedRateLimiter<T>(): RateLimiter<T> {
  return new ItemExponentialFailureRateLimiter({ baseDelayMs: 1, maxDelayMs: 1_000_000 });
}

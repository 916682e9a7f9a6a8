import { DelayingQueue } from "./delaying-queue.js";
import type { RateLimiter } from "./rate-limiter.js";
import type { WorkQueueOptions } from "./work-queue.js";

export interface RateLimitingQueueOptions<T> extends WorkQueueOptions {
  readonly rateLimiter: RateLimiter<T>;
}

/**
 * The queue of controllers: a {@link DelayingQueue} whose retries wait as a rate limiter decides.
 *
 * A worker calls {@link forget} on success and {@link addRateLimited} on an error. To process an item again later it
 * calls `forget` and `addAfter`. In all cases it calls `done` last.
 *
 * @see kubernetes v1.36 client-go util/workqueue/rate_limiting_queue.go
 */
export class RateLimitingQueue<T> extends DelayingQueue<T> {
  protected readonly rateLimiter: RateLimiter<T>;

  constructor({ rateLimiter, ...options }: RateLimitingQueueOptions<T>) {
    super(options);
    this.rateLimiter = rateLimiter;
  }

  /** Adds the item once the rate limiter's delay has passed. */
  addRateLimited(item: T): void {
    this.addAfter(item, this.rateLimiter.when(item));
  }

  /** Resets the item's failure count. Does not remove the item from the queue, and does not replace `done`. */
  forget(item: T): void {
    this.rateLimiter.forget(item);
  }

  /** Number of rate-limited adds of the item since it was last forgotten. */
  numRequeues(item: T): number {
    return this.rateLimiter.numRequeues(item);
  }
}

import { DelayingQueue } from "./delaying-queue.js";
import type { RateLimiter } from "./rate-limiter.js";
import type { WorkQueueOptions } from "./work-queue.js";

export interface RateLimitingQueueOptions<T> extends WorkQueueOptions {
  readonly rateLimiter: RateLimiter<T>;
}

/**
 * The queue of controllers: a {@link DelayingQueue} whose retries wait as long as a rate limiter says.
 *
 * What a worker does with an item: on success {@link forget}; on error {@link addRateLimited}; to come back later
 * `forget` and `addAfter`; and always, last, `done`.
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

  /** Ends the item's record of failures. Takes nothing out of the queue, and does not stand for `done`. */
  forget(item: T): void {
    this.rateLimiter.forget(item);
  }

  /** How often the item was added rate limited since it was last forgotten. */
  numRequeues(item: T): number {
    return this.rateLimiter.numRequeues(item);
  }
}

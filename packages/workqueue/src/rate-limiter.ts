/**
 * Decides how long a failed item waits. The state of an item exists until {@link forget}: items that are never
 * forgotten leak.
 *
 * @see kubernetes v1.36 client-go util/workqueue/default_rate_limiters.go
 */
export interface RateLimiter<T> {
  /** Counts one failure of the item, and returns its delay in milliseconds. */
  when(item: T): number;
  /** Resets the item, after it has succeeded or its retries have ended. */
  forget(item: T): void;
  /** Number of failures since the item was last forgotten. */
  numRequeues(item: T): number;
}

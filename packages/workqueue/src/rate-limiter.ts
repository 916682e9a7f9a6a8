/**
 * Decides how long a failed item waits. State is kept until {@link forget}: items never forgotten are never dropped.
 *
 * @see kubernetes v1.36 client-go util/workqueue/default_rate_limiters.go
 */
export interface RateLimiter<T> {
  /** Counts one failure of the item, and tells how many milliseconds it waits. */
  when(item: T): number;
  /** The item succeeded, or was given up. */
  forget(item: T): void;
  /** Failures counted since the item was last forgotten. */
  numRequeues(item: T): number;
}

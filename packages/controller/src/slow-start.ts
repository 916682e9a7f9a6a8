export interface SlowStartResult {
  /** Number of successful calls. */
  readonly successes: number;
  /** Number of calls made; `count - attempted` calls were never made. */
  readonly attempted: number;
  /** Error of the first failed call (by index). */
  readonly error?: unknown;
}

/**
 * Calls `fn` for 0…count-1 in batches of doubling size, starting with `initialBatchSize`, and stops after the first
 * batch with a failure. If every call fails, for example because of a quota, this wastes few requests. Each batch is
 * awaited completely.
 *
 * If `count` is not positive, `fn` is not called.
 *
 * @throws RangeError when `count` is positive and `initialBatchSize` is below 1.
 * @see kubernetes v1.36 pkg/controller/replicaset/replica_set.go slowStartBatch
 */
export async function slowStartBatch(
  count: number,
  initialBatchSize: number,
  fn: (index: number) => Promise<unknown>,
): Promise<SlowStartResult> {
  if (count > 0 && !(initialBatchSize >= 1))
    throw new RangeError(`initialBatchSize must be at least 1, not ${initialBatchSize}`);
  let successes = 0;
  let attempted = 0;
  for (let size = Math.min(count, initialBatchSize); size > 0; size = Math.min(2 * size, count - attempted)) {
    const first = attempted;
    attempted += size;
    // A single call is awaited directly: `Promise.allSettled` takes four more microtask turns, which reorders records
    // of the same instant.
    if (size === 1) {
      try {
        await fn(first);
      } catch (error) {
        return { successes, attempted, error };
      }
      successes++;
      continue;
    }
    const outcomes = await Promise.allSettled(Array.from({ length: size }, async (_, offset) => fn(first + offset)));
    const failed = outcomes.filter((outcome) => outcome.status === "rejected");
    successes += size - failed.length;
    if (failed.length > 0) return { successes, attempted, error: failed[0]!.reason as unknown };
  }
  return { successes, attempted };
}

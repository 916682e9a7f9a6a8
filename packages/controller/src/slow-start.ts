export interface SlowStartResult {
  /** Calls that succeeded. */
  readonly successes: number;
  /** Calls made; `count - attempted` were never tried. */
  readonly attempted: number;
  /** What the first failed call (by index) threw. */
  readonly error?: unknown;
}

/**
 * Calls `fn` for 0…count-1 in batches of doubling size, beginning with `initialBatchSize`, and stops after the first batch
 * with a failure: when everything fails, for want of quota say, few requests are wasted. A batch is always awaited whole.
 *
 * Without anything to do (a count that is not positive) nothing is called.
 *
 * @throws RangeError when there is something to do and `initialBatchSize` is below 1.
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
    // A lone call is awaited as it is: gathering takes four turns of the promise queue more, and moves records of an instant.
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

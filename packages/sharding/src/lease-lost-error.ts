/**
 * A Lease that the work of a bucket needs was lost, such as that of leader election. A `RunBucket` that rejects with it
 * does not count as failed: any member may acquire the bucket at once, this one included.
 */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}

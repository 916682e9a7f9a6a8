/** A thread had no room left for what it plays. Shown as one line; the process exits with status 1. */
export class OutOfMemoryError extends Error {
  override readonly name = "OutOfMemoryError";
}

/**
 * What a worker thread ended with, in words when it was for want of memory.
 *
 * @activity activity - What it was at.
 * @remedy remedy - What the user can have it play less of.
 */
export function threadFailure(error: unknown, activity: string, remedy?: string): unknown {
  if ((error as { readonly code?: unknown } | undefined)?.code !== "ERR_WORKER_OUT_OF_MEMORY") return error;
  const heap = "give each thread more heap (NODE_OPTIONS=--max-old-space-size=8192, in MiB)";
  return new OutOfMemoryError(
    `out of memory while simulating ${activity}: ${remedy === undefined ? heap : `${remedy}, or ${heap}`}`,
    { cause: error },
  );
}

/** A worker thread ran out of memory. Shown as one line; the process exits with status 1. */
export class OutOfMemoryError extends Error {
  override readonly name = "OutOfMemoryError";
}

/**
 * Converts the error of a worker thread into an `OutOfMemoryError` when memory was the cause. Returns other errors
 * unchanged.
 *
 * @param activity - The activity of the thread, for the message.
 * @param remedy - How the user can reduce the work of a thread.
 */
export function threadFailure(error: unknown, activity: string, remedy?: string): unknown {
  if ((error as { readonly code?: unknown } | undefined)?.code !== "ERR_WORKER_OUT_OF_MEMORY") return error;
  const heap = "give each thread more heap (NODE_OPTIONS=--max-old-space-size=8192, in MiB)";
  return new OutOfMemoryError(
    `out of memory while simulating ${activity}: ${remedy === undefined ? heap : `${remedy}, or ${heap}`}`,
    { cause: error },
  );
}

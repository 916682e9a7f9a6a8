/** Timeout of a request without a response. See `TIMEOUT_MS` of packages/cluster/src/request-faults.ts. */
export const LONGEST_REQUEST_MS = 30_000;

/** Longer than the garbage collector takes to release an object, with all its retries. */
export const RELEASED_MS = 10 * LONGEST_REQUEST_MS;

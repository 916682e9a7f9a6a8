/** Who hears nothing gives up after this time. See `TIMEOUT_MS` of packages/cluster/src/request-faults.ts. */
export const LONGEST_REQUEST_MS = 30_000;

/** Longer than the garbage collector takes to release an object, with all its tries. */
export const RELEASED_MS = 10 * LONGEST_REQUEST_MS;

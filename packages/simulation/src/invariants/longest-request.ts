/** Who hears nothing gives up after this time. See `TIMEOUT_MS` of packages/cluster/src/request-faults.ts. */
export const LONGEST_REQUEST_MS = 30_000;

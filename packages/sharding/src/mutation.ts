/** Deliberate defects that tests must detect. Only tests set them. */
export type Mutation =
  /** Writes are sent even if the Lease is not valid. */
  | "no fence"
  /** A bucket is released while a write has an unknown outcome. */
  | "no wait for outcomes"
  /** Expired members count as fenced although their Leases were not taken over. */
  | "no lease takeover"
  /** Time during which this member could not reach the API server counts as missing renewals of others. */
  | "outages count";

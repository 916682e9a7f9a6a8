/** Ways to be wrong, for tests that have to notice: nothing else sets them. */
export type Mutation =
  /** Writes are sent whatever became of the lease. */
  | "no fence"
  /** A bucket is given up while a write has no known outcome. */
  | "no wait for outcomes"
  /** Who is silent is taken for dead without its Lease being seized. */
  | "no lease takeover"
  /** Time in which this member could not reach the API counts as silence of others. */
  | "outages count";

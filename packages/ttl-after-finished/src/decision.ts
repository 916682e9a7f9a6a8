/** The result of one sync of a finished Job with a TTL. */
export interface TTLDecision {
  readonly atMs: number;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** `waiting`: the TTL has not expired yet. */
  readonly outcome: "waiting" | "deleted";
  /** Expiry time of the TTL, in epoch milliseconds. */
  readonly expiresMs: number;
}

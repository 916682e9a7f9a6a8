/** What one look at a finished Job with a time to live came to. */
export interface TTLDecision {
  readonly atMs: number;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** `waiting`: its time is not over yet. */
  readonly outcome: "waiting" | "deleted";
  /** When its time is over, or was. */
  readonly expiresMs: number;
}

/**
 * Reasons of the CronJob controller for a missed run. They repeat the type `MissReason` of `@kubewright/cronjob`,
 * because this package has no dependencies. Code that passes a value of one type as the other does not compile when the
 * types differ.
 */
export type ReportedMissReason =
  | "suspended"
  | "stillActive"
  | "deadlinePassed"
  | "superseded"
  | "overlooked"
  | "beingDeleted"
  | "unknownTimeZone"
  | "unparseableSchedule"
  | "invalidSchedule"
  | "ownedByAnother";

/**
 * Reasons for a missed run: those of the controller, local times that a clock change skips, and Jobs that the API server
 * refuses to create.
 */
export type SkipReason = ReportedMissReason | "noSuchTime" | "refused";

/** Slots without a run, all for the same reason. Only the first slots are listed. */
export interface ReportedMissedSlots {
  readonly reason: ReportedMissReason;
  readonly count: number;
  /** False when `count` is extrapolated from the interval between the listed slots. */
  readonly exact: boolean;
  /** Oldest first. */
  readonly slotsMs: readonly number[];
}

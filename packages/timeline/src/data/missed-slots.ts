/**
 * Why a run did not start, as the CronJob controller says: what `@kubewright/cronjob` calls by the same names, and said again,
 * since this package installs nothing else. Whoever hands one on as the other does not compile where they differ.
 */
export type MissReason =
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

/** Why a run did not start: the controller's reasons, and wall times that the clock leaves out. */
export type SkipReason = MissReason | "noSuchTime";

/** Slots that went by without a run, all for the same reason: the first of them are listed. */
export interface MissedSlots {
  readonly reason: MissReason;
  readonly count: number;
  /** False when `count` is extrapolated from the pace of the slots listed. */
  readonly exact: boolean;
  /** Oldest first. */
  readonly slotsMs: readonly number[];
}

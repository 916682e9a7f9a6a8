import type { ObjectKey } from "@kubewright/api";

import type { SlotList } from "./schedule-slots.js";

/**
 * The outcome of one sync of a CronJob.
 *
 * - `ran`, `replaced`: a Job was created for the slot; for `replaced`, after the deletion of active Jobs was requested.
 * - `adopted`: the Job for the slot existed and belonged to the CronJob; it is now listed as active.
 * - `alreadyExists`: a Job of that name exists and is left alone. Nothing is started for this slot.
 * - `skipped`: a slot was due or has passed, and no Job was started for it.
 * - `alreadyProcessed`: the most recent slot was started before.
 * - `notDue`: there is no slot to start yet.
 * - `stopped`: this CronJob starts nothing until it changes.
 * - `failed`: the API server rejected a step; the sync is retried with backoff.
 */
export type CronJobOutcome =
  "ran" | "replaced" | "adopted" | "alreadyExists" | "skipped" | "alreadyProcessed" | "notDue" | "stopped" | "failed";

/** Why a slot was not started, or why nothing is started. */
export type MissReason =
  /** `spec.suspend` is true. */
  | "suspended"
  /** Policy Forbid, and a Job is active. The slot may still be started while it is the most recent one. */
  | "stillActive"
  /** The slot was older than `startingDeadlineSeconds` at the time of the sync. */
  | "deadlinePassed"
  /** A later slot was also due: only the most recent slot is started. */
  | "superseded"
  /**
   * The search estimates the most recent slot from the schedule's first interval, and did not reach back to this slot.
   */
  | "overlooked"
  | "beingDeleted"
  | "unknownTimeZone"
  | "unparseableSchedule"
  /** The schedule never fires. */
  | "invalidSchedule"
  /** A Job that this CronJob does not control has the Job's name. */
  | "ownedByAnother";

export type CronJobReason =
  | MissReason
  | "due"
  | "notDue"
  /** The slot is `lastScheduleTime`, or its Job is listed as active. */
  | "alreadyStarted"
  /** The Job exists and is in the active list of the live CronJob, which the cache does not show yet. */
  | "alreadyListed"
  | "getFailed"
  | "deleteFailed"
  | "createFailed"
  | "namespaceTerminating";

/** Slots that passed without a run, all for the same reason. At most the first 100 are listed. */
export interface MissedSlots extends SlotList {
  readonly reason: MissReason;
}

/** One sync of a CronJob, as plain data. */
export interface CronJobDecision {
  readonly key: ObjectKey;
  /** Time of the decision by the controller's clock. */
  readonly atMs: number;
  readonly outcome: CronJobOutcome;
  readonly reason: CronJobReason;
  /** Text for users; the text of the event where upstream records one. */
  readonly message: string;
  /** The slot of the decision; for `skipped`, the most recent one that passed. */
  readonly slotMs?: number;
  /** Name of the Job for that slot. */
  readonly jobName?: string;
  /** Names of the active Jobs that block the slot (Forbid), or were deleted for it (Replace). */
  readonly activeJobs?: readonly string[];
  /**
   * Slots that can no longer start, oldest first. One controller process reports each of them in one decision only. A
   * slot that Forbid blocks is included when its deadline has passed or a later slot is due. For reporting only:
   * upstream has no such list.
   */
  readonly missed: readonly MissedSlots[];
  /** Time of the next sync, if a timer was set. */
  readonly nextSyncMs?: number;
}

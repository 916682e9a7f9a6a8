import type { ObjectKey } from "@kubewright/api";

import type { SlotList } from "./schedule-slots.js";

/**
 * What one sync of a CronJob came to.
 *
 * - `ran`, `replaced`: a Job was created for the slot; for `replaced`, after asking for active ones to be deleted.
 * - `adopted`: the Job for the slot existed and belonged to the CronJob; it is listed as active now.
 * - `alreadyExists`: a Job of that name exists and is left alone. Nothing is started for this slot.
 * - `skipped`: a slot was due, or went by, and no Job was started for it.
 * - `alreadyProcessed`: the most recent slot was started before. `notDue`: there is no slot to start yet.
 * - `stopped`: this CronJob starts nothing until it changes.
 * - `failed`: the API server refused a step; the sync is retried with backoff.
 */
export type CronJobOutcome =
  "ran" | "replaced" | "adopted" | "alreadyExists" | "skipped" | "alreadyProcessed" | "notDue" | "stopped" | "failed";

/** Why a slot was not started, or why nothing is started at all. */
export type MissReason =
  /** `spec.suspend` is true. */
  | "suspended"
  /** Policy Forbid, and a Job is active. The slot may still be started later, while it is the most recent one. */
  | "stillActive"
  /** The slot was older than `startingDeadlineSeconds` when the controller looked. */
  | "deadlinePassed"
  /** A later slot was due as well: only the most recent one is started. */
  | "superseded"
  /** The search for the most recent slot goes by the schedule's first interval, and did not reach back to this one. */
  | "overlooked"
  | "beingDeleted"
  | "unknownTimeZone"
  | "unparseableSchedule"
  /** The schedule never fires. */
  | "invalidSchedule"
  /** The Job's name is taken by a Job that this CronJob does not control. */
  | "ownedByAnother";

export type CronJobReason =
  | MissReason
  | "due"
  | "notDue"
  /** The slot is `lastScheduleTime`, or its Job is listed as active. */
  | "alreadyStarted"
  /** The Job exists and is in the live list of active Jobs, which the cache has not seen yet. */
  | "alreadyListed"
  | "getFailed"
  | "deleteFailed"
  | "createFailed"
  | "namespaceTerminating";

/** Slots that went by without a run, all for the same reason: at most the first 100 of them are listed. */
export interface MissedSlots extends SlotList {
  readonly reason: MissReason;
}

/** One sync of a CronJob, as plain data. */
export interface CronJobDecision {
  readonly key: ObjectKey;
  /** The controller's time when it decided. */
  readonly atMs: number;
  readonly outcome: CronJobOutcome;
  readonly reason: CronJobReason;
  /** For people; where upstream records an event for it, that event's text. */
  readonly message: string;
  /** The slot the decision is about: for `skipped`, the most recent one that went by. */
  readonly slotMs?: number;
  /** The Job of that slot. */
  readonly jobName?: string;
  /** Names of the Jobs in the way: those that block the slot (Forbid), or were deleted for it (Replace). */
  readonly activeJobs?: readonly string[];
  /**
   * Slots that can no longer start and are reported now, each by one decision only as long as the controller lives, oldest
   * first. A slot that Forbid holds back is among them once its deadline passed or a later slot is due. Reporting only:
   * upstream keeps no such list.
   */
  readonly missed: readonly MissedSlots[];
  /** When the CronJob is due to be looked at again, if a timer was set. */
  readonly nextSyncMs?: number;
}

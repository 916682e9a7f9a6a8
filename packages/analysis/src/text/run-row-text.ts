import { formatTime } from "@kubewright/api";
import type { SkipReason } from "@kubewright/timeline/data";

import { formatDuration } from "../time/duration.js";

export type { SkipReason } from "@kubewright/timeline/data";

/** Texts of skip reasons, for `run`, its page, `--against` and `why`. */
export const SKIP_REASON_TEXTS: Readonly<Record<SkipReason, string>> = {
  suspended: "suspended",
  stillActive: "the last run is still active (Forbid)",
  deadlinePassed: "startingDeadlineSeconds passed",
  superseded: "a later run was due as well",
  overlooked: "missed while the controller did not run",
  beingDeleted: "the CronJob is being deleted",
  unknownTimeZone: "unknown time zone",
  unparseableSchedule: "unparseable schedule",
  invalidSchedule: "the schedule never fires",
  ownedByAnother: "its Job's name is taken",
  noSuchTime: "clocks go forward over it",
  refused: "the API server refused its Job",
};

/**
 * Returns one line for people: the skip reason, or the blocking runs and whether the deadline or Forbid decided the
 * skip.
 */
export function skipText(reason: SkipReason, blockedBy: readonly string[] = []): string {
  if (blockedBy.length === 0) return SKIP_REASON_TEXTS[reason];
  const why = `${blockedBy.join(", ")} still active`;
  return reason === "deadlinePassed" ? `${why} past the deadline` : `${why} (Forbid)`;
}

/**
 * Returns why a slot that Forbid blocks at the end of a window did not start: `stillActive` while it still may start,
 * else `deadlinePassed`.
 */
export function heldBackReason(
  slotMs: number,
  { startingDeadlineSeconds }: { readonly startingDeadlineSeconds?: number },
  endMs: number,
): SkipReason {
  const isPast = startingDeadlineSeconds !== undefined && slotMs + startingDeadlineSeconds * 1000 < endMs;
  return isPast ? "deadlinePassed" : "stillActive";
}

export interface RunTimes {
  /** The slot, for a run of a CronJob. */
  readonly slotMs?: number;
  readonly createdMs: number;
  readonly startMs?: number;
  readonly endMs?: number;
}

/** Returns the delay of a run after its slot. Delays below a second count as 0. */
export function lateMs({ slotMs, createdMs }: Pick<RunTimes, "slotMs" | "createdMs">): number {
  const late = slotMs === undefined ? 0 : createdMs - slotMs;
  return late >= 1_000 ? late : 0;
}

/** `started 4m late`, or an empty text. */
export function lateText(run: Pick<RunTimes, "slotMs" | "createdMs">): string {
  const late = lateMs(run);
  return late === 0 ? "" : `started ${formatDuration(late)} late`;
}

/** Returns the time from a run's start, by `status.startTime`, to its end; `undefined` for a run that has not ended. */
export function durationMsOf({ createdMs, startMs = createdMs, endMs }: RunTimes): number | undefined {
  return endMs === undefined ? undefined : Math.max(0, endMs - startMs);
}

/** Returns the text for a Job that Replace deleted for a later run. */
export function replacedText(by: string): string {
  return `replaced by ${by}`;
}

/** Returns the text for a schedule that matches no date, such as `0 0 31 2 *`. */
export function neverText(fromMs: number): string {
  return `never: no run within five years of ${formatTime(fromMs)}`;
}

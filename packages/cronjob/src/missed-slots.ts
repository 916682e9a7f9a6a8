import type { Schedule } from "@kubewright/cron";

import type { MissReason, MissedSlots } from "./decision.js";
import { type RecentSlot, slotsBetween } from "./schedule-slots.js";

/** What earlier decisions have reported. */
export interface ReportedSlots {
  /** The last reported slot. */
  readonly upToMs: number;
  /** Why the CronJob started nothing at its last sync: the reason for every slot missed since. */
  readonly stoppedBy?: MissReason;
}

export interface MissedSearch {
  readonly schedule: Schedule;
  readonly nowMs: number;
  /** Result of the controller's search, with the deadline. */
  readonly recent: RecentSlot;
  /** Result of a search without the deadline; the same object when there is no deadline. */
  readonly unlimited: RecentSlot | undefined;
  readonly reported?: ReportedSlots | undefined;
}

/**
 * Returns the slots that this sync reports as missed, without the slot that is due. Without missed slots the search
 * costs nothing; otherwise at most about 200 steps of the schedule.
 */
export function missedSlots({ schedule, nowMs, recent, unlimited, reported }: MissedSearch): MissedSlots[] {
  if (unlimited === undefined || (unlimited.missed === "none" && unlimited.slotMs === recent.slotMs)) return [];
  const fromMs = Math.max(unlimited.earliestMs, reported?.upToMs ?? Number.NEGATIVE_INFINITY);
  const untilMs = recent.slotMs === undefined ? nowMs : recent.slotMs - 1;
  const missed: MissedSlots[] = [];
  const list = (reason: MissReason, afterMs: number, throughMs: number): void => {
    if (afterMs >= throughMs) return;
    const slots = slotsBetween(schedule, afterMs, throughMs);
    if (slots.count > 0) missed.push({ reason, ...slots });
  };
  if (reported?.stoppedBy !== undefined) {
    list(reported.stoppedBy, fromMs, untilMs);
    return missed;
  }
  // Without a deadline both searches begin at the same time, so this range is empty.
  list("deadlinePassed", fromMs, Math.min(recent.earliestMs, untilMs));
  list(recent.slotMs === undefined ? "overlooked" : "superseded", Math.max(fromMs, recent.earliestMs), untilMs);
  return missed;
}

/** Returns the most recent missed slot, or `nowMs` if only the number of slots is known. */
export function lastMissed(missed: readonly MissedSlots[], nowMs: number): number | undefined {
  const last = missed.at(-1);
  if (last === undefined) return undefined;
  return last.exact ? last.slotsMs.at(-1) : nowMs;
}

import type { Schedule } from "@kubewright/cron";

import type { MissReason, MissedSlots } from "./decision.js";
import { type RecentSlot, slotsBetween } from "./schedule-slots.js";

/** What earlier decisions have told already. */
export interface ReportedSlots {
  /** Slots up to and including this one were reported. */
  readonly upToMs: number;
  /** What kept the CronJob from starting anything at its last sync: the reason of every slot missed since. */
  readonly stoppedBy?: MissReason;
}

export interface MissedSearch {
  readonly schedule: Schedule;
  readonly nowMs: number;
  /** What the controller found, deadline applied. */
  readonly recent: RecentSlot;
  /** What it would have found without a deadline; the same object when there is none. */
  readonly unlimited: RecentSlot | undefined;
  readonly reported?: ReportedSlots | undefined;
}

/**
 * The slots that go by without a run as of this sync, except the one found due. In the normal course, with nothing
 * missed, this costs nothing; otherwise no more than about 200 steps of the schedule.
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
  // Without a deadline both searches begin at the same place, and nothing lies in between.
  list("deadlinePassed", fromMs, Math.min(recent.earliestMs, untilMs));
  list(recent.slotMs === undefined ? "overlooked" : "superseded", Math.max(fromMs, recent.earliestMs), untilMs);
  return missed;
}

/** The most recent slot of the list, or `nowMs` where only their number is known. */
export function lastMissed(missed: readonly MissedSlots[], nowMs: number): number | undefined {
  const last = missed.at(-1);
  if (last === undefined) return undefined;
  return last.exact ? last.slotsMs.at(-1) : nowMs;
}

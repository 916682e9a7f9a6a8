import { TimeZoneCache } from "@kubewright/cron";
import type { SkippedRow, TimelineGroup } from "@kubewright/timeline/data";

import { clockEffects } from "../time/clock-effects.js";
import type { CronJobState } from "../run/trace.js";

/** Finds slots in clock gaps, which no controller sees. */
export class LostSlots {
  readonly #zones = new TimeZoneCache();
  /** Time from which each CronJob's current schedule has not been checked for clock changes. */
  readonly #scheduledFrom = new Map<TimelineGroup, number>();

  get followedGroups(): Iterable<TimelineGroup> {
    return this.#scheduledFrom.keys();
  }

  follow(group: TimelineGroup, fromMs: number): void {
    this.#scheduledFrom.set(group, fromMs);
  }

  forget(group: TimelineGroup): void {
    this.#scheduledFrom.delete(group);
  }

  /** Returns the lost slots since the last call, according to the group's schedule of that time. */
  slotsUntil(untilMs: number, group: TimelineGroup, startMs: number): readonly SkippedRow[] {
    const { cronJob } = group;
    const fromMs = this.#scheduledFrom.get(group);
    if (cronJob === undefined || fromMs === undefined) return [];
    this.#scheduledFrom.set(group, untilMs);
    return cronJob.suspend ? [] : clockEffects(cronJob, Math.max(fromMs, startMs), untilMs, this.#zones).lost;
  }
}

/** Returns whether the slots are the same before and after a change of a CronJob. */
export function isSameSchedule(a: CronJobState, b: CronJobState): boolean {
  return a.schedule === b.schedule && a.timeZone === b.timeZone && a.suspend === b.suspend;
}

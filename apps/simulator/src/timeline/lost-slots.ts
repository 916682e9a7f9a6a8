import { TimeZoneCache } from "@kubewright/cron";
import type { SkippedRow, TimelineGroup } from "@kubewright/timeline/data";

import { clockEffects } from "../clock-effects.js";
import type { CronJobState } from "../trace.js";

/** Finds slots that a change of the clock left out: no controller sees them. */
export class LostSlots {
  readonly #zones = new TimeZoneCache();
  /** Since when a CronJob has the schedule it has, as far as it has been looked at for changes of the clock. */
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

  /** Those since it was asked last, by the schedule that the group has had. */
  slotsUntil(untilMs: number, group: TimelineGroup, startMs: number): readonly SkippedRow[] {
    const { cronJob } = group;
    const fromMs = this.#scheduledFrom.get(group);
    if (cronJob === undefined || fromMs === undefined) return [];
    this.#scheduledFrom.set(group, untilMs);
    return cronJob.suspend ? [] : clockEffects(cronJob, Math.max(fromMs, startMs), untilMs, this.#zones).lost;
  }
}

/** Whether slots are the same before a change of a CronJob and after. */
export function isSameSchedule(a: CronJobState, b: CronJobState): boolean {
  return a.schedule === b.schedule && a.timeZone === b.timeZone && a.suspend === b.suspend;
}

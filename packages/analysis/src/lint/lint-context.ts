import { type Schedule, TimeZoneCache, parseSchedule } from "@kubewright/cron";

import { type Slots, slotsAfter } from "./slots.js";
import { type Subject, numberIn } from "./subject.js";

/** Cached data that rules share. */
export class LintContext {
  readonly zones = new TimeZoneCache();
  readonly #schedules = new WeakMap<Subject, { readonly schedule: Schedule | undefined }>();
  readonly #slots = new WeakMap<Subject, { readonly slots: Slots | undefined }>();

  /** @param fromMs - Schedules and clock changes are checked from this time on. */
  constructor(readonly fromMs: number) {}

  /** Returns the schedule of a CronJob; `undefined` for a Job or an invalid schedule. */
  scheduleOf(subject: Subject): Schedule | undefined {
    let known = this.#schedules.get(subject);
    if (known === undefined) this.#schedules.set(subject, (known = { schedule: this.#parse(subject) }));
    return known.schedule;
  }

  /** Returns the next slots of a CronJob; `undefined` when there are fewer than two, or none can start. */
  slotsOf(subject: Subject): Slots | undefined {
    let known = this.#slots.get(subject);
    if (known === undefined) {
      const schedule = this.scheduleOf(subject);
      const starts = schedule !== undefined && !isDelayBeyondDeadline(subject, schedule);
      known = { slots: starts ? slotsAfter(this.fromMs, schedule, this.zones) : undefined };
      this.#slots.set(subject, known);
    }
    return known.slots;
  }

  #parse({ cronJob }: Subject): Schedule | undefined {
    const { schedule, timeZone } = cronJob ?? {};
    if (typeof schedule !== "string") return undefined;
    try {
      return parseSchedule(schedule, { zones: this.zones, timeZone: typeof timeZone === "string" ? timeZone : "UTC" });
    } catch {
      return undefined;
    }
  }
}

/**
 * Whether an `@every` schedule has a deadline shorter than its delay. The controller searches for slots no further back
 * than the deadline and counts the delay from there, so it never finds one.
 *
 * @see kubernetes v1.36 pkg/controller/cronjob/utils.go mostRecentScheduleTime
 */
export function isDelayBeyondDeadline({ cronJob }: Subject, schedule: Schedule): boolean {
  const deadline = numberIn(cronJob?.startingDeadlineSeconds);
  if (deadline === undefined || !/^(?:(?:CRON_)?TZ=\S* +)?@every /.test(cronJob?.schedule ?? "")) return false;
  return (schedule.next(0) ?? 0) > deadline * 1000;
}

import { type Schedule, TimeZoneCache, parseSchedule } from "@kubewright/cron";

import { type Slots, slotsAfter } from "./slots.js";
import { type Subject, numberIn } from "./subject.js";

/** What rules go by, beside what they look at. */
export class LintContext {
  readonly zones = new TimeZoneCache();
  readonly #schedules = new WeakMap<Subject, { readonly schedule: Schedule | undefined }>();
  readonly #slots = new WeakMap<Subject, { readonly slots: Slots | undefined }>();

  /** @param fromMs - From when on: the schedule's runs and the changes of the clock after it count. */
  constructor(readonly fromMs: number) {}

  /** The schedule of a CronJob; `undefined` of a Job, and for what cannot be read. */
  scheduleOf(subject: Subject): Schedule | undefined {
    let known = this.#schedules.get(subject);
    if (known === undefined) this.#schedules.set(subject, (known = { schedule: this.#parse(subject) }));
    return known.schedule;
  }

  /** The next slots of a CronJob; `undefined` where there are not two, or none of them ever starts. */
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
 * Whether a schedule of `@every` has a deadline that is shorter than its delay: the controller looks for slots no further back
 * than the deadline, counts the delay from there, and is always too early.
 *
 * @see kubernetes v1.36 pkg/controller/cronjob/utils.go mostRecentScheduleTime
 */
export function isDelayBeyondDeadline({ cronJob }: Subject, schedule: Schedule): boolean {
  const deadline = numberIn(cronJob?.startingDeadlineSeconds);
  if (deadline === undefined || !/^(?:(?:CRON_)?TZ=\S* +)?@every /.test(cronJob?.schedule ?? "")) return false;
  return (schedule.next(0) ?? 0) > deadline * 1000;
}

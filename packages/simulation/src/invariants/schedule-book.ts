import type { CronJob, DeepReadonly } from "@kubewright/api";
import { type Schedule, TimeZoneCache, parseSchedule } from "@kubewright/cron";

type Spec = NonNullable<DeepReadonly<CronJob>["spec"]>;

/** Schedules of CronJobs, each read once. */
export class ScheduleBook {
  readonly #localTimeZone: string;
  readonly #zones = new TimeZoneCache();
  readonly #schedules = new Map<string, Schedule | undefined>();

  /** @param localTimeZone - The zone of CronJobs that name none. */
  constructor(localTimeZone = "UTC") {
    this.#localTimeZone = localTimeZone;
  }

  /** `undefined` for one that cannot be read, or whose zone is not known. */
  of({ schedule, timeZone }: Pick<Spec, "schedule" | "timeZone">): Schedule | undefined {
    const text = timeZone == null || schedule.includes("TZ") ? schedule : `TZ=${timeZone} ${schedule}`;
    if (!this.#schedules.has(text)) this.#schedules.set(text, this.#read(text));
    return this.#schedules.get(text);
  }

  #read(text: string): Schedule | undefined {
    const local = this.#localTimeZone;
    try {
      return parseSchedule(text, { timeZone: local, localTimeZone: local, zones: this.#zones });
    } catch {
      return undefined;
    }
  }
}

/** Whether slots lie at an equal distance from one to the next, wherever the first is. */
export function isRelative({ schedule }: Pick<Spec, "schedule">): boolean {
  return schedule.includes("@every");
}

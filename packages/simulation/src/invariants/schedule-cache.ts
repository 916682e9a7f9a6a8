import type { CronJob, DeepReadonly } from "@kubewright/api";
import { type Schedule, TimeZoneCache, parseSchedule } from "@kubewright/cron";

import type { World } from "../world.js";
import { WallClock, WallClockSchedule } from "./wall-clock-schedule.js";

type Spec = NonNullable<DeepReadonly<CronJob>["spec"]>;

/** Schedules of CronJobs, each read once. What clocks on the wall can tell of them, they do. */
export class ScheduleCache {
  readonly #localTimeZone: string;
  readonly #zones = new TimeZoneCache();
  readonly #clocks = new Map<string, WallClock>();
  readonly #schedules = new Map<string, Pick<Schedule, "next"> | undefined>();

  /** @param localTimeZone - The zone of CronJobs that name none. */
  constructor(localTimeZone = "UTC") {
    this.#localTimeZone = localTimeZone;
  }

  /** `undefined` for one that cannot be read, or whose zone is not known. */
  of({ schedule, timeZone }: Pick<Spec, "schedule" | "timeZone">): Pick<Schedule, "next"> | undefined {
    const text = timeZone == null || schedule.includes("TZ") ? schedule : `TZ=${timeZone} ${schedule}`;
    if (!this.#schedules.has(text)) {
      const read = this.#read(text);
      this.#schedules.set(text, read === undefined ? undefined : this.#byWallClock(schedule, read));
    }
    return this.#schedules.get(text);
  }

  /** By how much the clocks that a CronJob's runs are dated with are ahead of UTC; `undefined`: not sure. */
  offsetMs({ timeZone }: Pick<Spec, "timeZone">, atMs: number): number | undefined {
    const zone = timeZone ?? "UTC";
    return this.#zones.get(zone) === undefined ? undefined : this.#clock(zone).offsetAt(atMs);
  }

  #read(text: string): Schedule | undefined {
    const local = this.#localTimeZone;
    try {
      return parseSchedule(text, { timeZone: local, localTimeZone: local, zones: this.#zones });
    } catch {
      return undefined;
    }
  }

  #byWallClock(schedule: string, read: Schedule): Pick<Schedule, "next"> {
    const slow = WallClockSchedule.of(schedule, this.#clock(read.timeZone));
    return slow === undefined ? read : { next: (afterMs) => slow.next(afterMs) ?? read.next(afterMs) };
  }

  #clock(zone: string): WallClock {
    const clock = this.#clocks.get(zone) ?? new WallClock(zone);
    this.#clocks.set(zone, clock);
    return clock;
  }
}

const makeScheduleCache = ({ plan }: World): ScheduleCache => new ScheduleCache(plan.timeZone);

/** The one of a run. */
export function scheduleCacheOf(world: World): ScheduleCache {
  return world.shared(makeScheduleCache);
}

/** Whether slots lie at an equal distance from one to the next, wherever the first is. */
export function isRelative({ schedule }: Pick<Spec, "schedule">): boolean {
  return schedule.includes("@every");
}

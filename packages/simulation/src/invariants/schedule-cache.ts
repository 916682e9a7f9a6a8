import type { CronJob, DeepReadonly } from "@kubewright/api";
import { type Schedule, TimeZoneCache, parseSchedule } from "@kubewright/cron";

import type { World } from "../world.js";
import { WallClock, WallClockSchedule } from "./wall-clock-schedule.js";

type Spec = NonNullable<DeepReadonly<CronJob>["spec"]>;

/**
 * Parsed schedules of CronJobs, each parsed once. Schedules that `WallClockSchedule` supports are computed
 * independently of `@kubewright/cron`.
 */
export class ScheduleCache {
  readonly #localTimeZone: string;
  readonly #zones = new TimeZoneCache();
  readonly #clocks = new Map<string, WallClock>();
  readonly #schedules = new Map<string, Pick<Schedule, "next"> | undefined>();

  /** @param localTimeZone - Zone of CronJobs that name none. */
  constructor(localTimeZone = "UTC") {
    this.#localTimeZone = localTimeZone;
  }

  /** Returns a schedule; `undefined` when it cannot be parsed, or its zone is unknown. */
  of({ schedule, timeZone }: Pick<Spec, "schedule" | "timeZone">): Pick<Schedule, "next"> | undefined {
    const text = timeZone == null || schedule.includes("TZ") ? schedule : `TZ=${timeZone} ${schedule}`;
    if (!this.#schedules.has(text)) {
      const read = this.#read(text);
      this.#schedules.set(text, read === undefined ? undefined : this.#byWallClock(schedule, read));
    }
    return this.#schedules.get(text);
  }

  /** Returns the offset from UTC for a CronJob's scheduled time; `undefined` when it is uncertain. */
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

/** Returns the cache of a run. */
export function scheduleCacheOf(world: World): ScheduleCache {
  return world.shared(makeScheduleCache);
}

/** Reports whether slots have equal distances, counted from any first one. */
export function isRelative({ schedule }: Pick<Spec, "schedule">): boolean {
  return schedule.includes("@every");
}

import {
  type Schedule,
  type ScheduleOptions,
  type ScheduleTransition,
  TimeZoneCache,
  explainSchedule,
  parseSchedule,
} from "@kubewright/cron";
import type { SkippedRow } from "@kubewright/timeline/data";

import { clockRemarks } from "./clock-changes.js";
import type { CronJobState } from "../run/trace.js";
import { ZonedClock } from "./zoned-clock.js";

/** The effects of clock changes on a CronJob, with the texts of `kubewright schedule`. */
export interface ClockEffects {
  /** Slots that no controller sees, because their time of day is skipped. */
  readonly lost: readonly SkippedRow[];
  /** Remarks by slot, for runs at a time of day that occurs twice on that day. */
  readonly repeated: ReadonlyMap<number, string>;
}

const NONE: ClockEffects = { lost: [], repeated: new Map() };
/** A transition touches two days at most. */
const AROUND_MS = 48 * 3_600_000;
/** Runs of four days, one per minute. */
const MAX_RUNS = 6_000;

/**
 * Returns the effects of a zone's clock changes from `fromMs` on, before `toMs`. Schedules that fire both before and after
 * a gap, such as hourly ones, lose nothing.
 *
 * @param zones - Pass the same cache for many CronJobs, so that each zone is read once.
 */
export function clockEffects(
  { schedule: text, timeZone = "UTC" }: CronJobState,
  fromMs: number,
  toMs: number,
  zones = new TimeZoneCache(),
): ClockEffects {
  const schedule = parsed(text, { timeZone, zones });
  const zone = schedule === undefined ? undefined : zones.get(schedule.timeZone);
  if (schedule === undefined || zone === undefined) return NONE;
  const clock = new ZonedClock(schedule.timeZone, zones);
  const lost: SkippedRow[] = [];
  const repeated = new Map<number, string>();
  for (const { at } of zone.transitions(Math.floor((fromMs - 1) / 1000), Math.floor((toMs - 1) / 1000))) {
    const atMs = at * 1000;
    const window = { fromMs: atMs - AROUND_MS, toMs: atMs + AROUND_MS, limit: MAX_RUNS, timeZone, zones };
    const transitions = explainSchedule(text, window).transitions.filter((transition) => transition.atMs === atMs);
    for (const transition of transitions) {
      const { skipped } = transition;
      for (const { text: remark, runMs } of clockRemarks([transition], clock)) {
        if (runMs !== undefined) repeated.set(runMs, remark);
        else if (!firesOnBothSides(schedule, transition))
          lost.push({
            type: "skipped",
            slotMs: atMs,
            cause: "noSuchTime",
            reason: remark,
            ...(skipped.length > 1 ? { unlisted: skipped.length - 1 } : {}),
          });
      }
    }
  }
  return { lost, repeated };
}

/** Returns the first slot at or after a time; `undefined` when there is none within five years or the schedule is invalid. */
export function nextSlotMs(
  { schedule, timeZone = "UTC" }: CronJobState,
  fromMs: number,
  zones = new TimeZoneCache(),
): number | undefined {
  return parsed(schedule, { timeZone, zones })?.next(fromMs - 1);
}

function firesOnBothSides(schedule: Schedule, { atMs, offsetBeforeMs, offsetAfterMs }: ScheduleTransition): boolean {
  const gapMs = offsetAfterMs - offsetBeforeMs;
  const firesIn = (fromMs: number): boolean => (schedule.next(fromMs - 1) ?? Infinity) < fromMs + gapMs;
  return firesIn(atMs - gapMs) && firesIn(atMs);
}

function parsed(text: string, options: ScheduleOptions): Schedule | undefined {
  try {
    return parseSchedule(text, options);
  } catch {
    return undefined;
  }
}

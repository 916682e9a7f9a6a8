import { secondsAsDurationMs } from "@kubewright/api";
import type { Schedule } from "@kubewright/cron";

/** What the search needs to know of a CronJob. Times are epoch milliseconds. */
export interface SlotSearch {
  readonly schedule: Schedule;
  readonly createdMs: number;
  /** `status.lastScheduleTime`. */
  readonly lastScheduleMs?: number | undefined;
  /** `spec.startingDeadlineSeconds`; absent also where upstream ignores it. */
  readonly startingDeadlineSeconds?: number | undefined;
}

/** How many slots went by, as the controller estimates it from the schedule's first interval alone. */
export type MissedClass = "none" | "few" | "many";

export interface RecentSlot {
  /** Where the search began: no slot at or before it is seen. */
  readonly earliestMs: number;
  /** The most recent slot that is due, if there is one. */
  readonly slotMs?: number;
  readonly missed: MissedClass;
  /** The slot a timer should wait for; {@link NEVER} when the schedule has none. */
  readonly nextMs: number;
}

/** "No such time" in comparisons: before every other time, as upstream's zero time is. */
export const NEVER = Number.NEGATIVE_INFINITY;

/**
 * More missed slots than this raise the TooManyMissedTimes warning. They do not keep the controller from starting the
 * most recent one.
 */
const MANY_MISSED = 100;

/**
 * The slot to start now: the most recent one after the last that was started (or after creation), if any is due.
 *
 * The number of missed slots is an estimate from the first interval, and the search for the most recent one reaches back
 * between one and two such intervals. On an irregular schedule that can miss a slot altogether, which is then never
 * started. Upstream does the same, so both are kept.
 *
 * @returns `undefined` when two slots lie less than a second apart, which is how a schedule that never fires shows.
 * @see kubernetes v1.36 pkg/controller/cronjob/utils.go mostRecentScheduleTime, nextScheduleTimeDuration
 */
export function mostRecentSlot(search: SlotSearch, nowMs: number): RecentSlot | undefined {
  const { schedule } = search;
  const earliestMs = windowStart(search, nowMs);
  const firstMs = nextOf(schedule, earliestMs);
  if (nowMs < firstMs) return { earliestMs, missed: "none", nextMs: firstMs };
  const secondMs = nextOf(schedule, firstMs);
  if (nowMs < secondMs) return { earliestMs, slotMs: firstMs, missed: "none", nextMs: secondMs };

  const intervalSeconds = Math.round((secondMs - firstMs) / 1000);
  // Not `< 1`: two times that never come give NaN.
  if (!(intervalSeconds >= 1)) return undefined;

  const missedEstimate = Math.floor(Math.trunc((nowMs - firstMs) / 1000) / intervalSeconds) + 1;
  const missed = missedEstimate > MANY_MISSED ? "many" : missedEstimate > 0 ? "few" : "none";
  let slotMs: number | undefined;
  let nextMs = nextOf(schedule, firstMs + (missedEstimate - 2) * intervalSeconds * 1000);
  // Stops at NEVER, where upstream would go round for ever.
  while (nextMs <= nowMs && nextMs !== NEVER) {
    slotMs = nextMs;
    nextMs = nextOf(schedule, nextMs);
  }
  if (slotMs === undefined) return { earliestMs, missed, nextMs: nextOf(schedule, nowMs) };
  return { earliestMs, slotMs, missed, nextMs };
}

/**
 * Slots are looked for strictly after this: the last slot started, or creation, or what the deadline still allows. A
 * deadline that overflows may put it off to long after now.
 */
export function windowStart({ createdMs, lastScheduleMs, startingDeadlineSeconds }: SlotSearch, nowMs: number): number {
  const earliestMs = lastScheduleMs ?? createdMs;
  return startingDeadlineSeconds === undefined
    ? earliestMs
    : Math.max(earliestMs, nowMs + secondsAsDurationMs(-startingDeadlineSeconds));
}

/** Every timer fires this much after its slot, so that it never fires just before. */
export const TIMER_DELAY_MS = 100;

/**
 * Milliseconds from now until the CronJob has to be looked at again; not positive: at once; {@link NEVER} when the schedule
 * has no slot any more. The deadline plays no part.
 *
 * @see kubernetes v1.36 pkg/controller/cronjob/cronjob_controllerv2.go nextScheduleTimeDuration
 */
export function nextScheduleDelayMs(search: SlotSearch, nowMs: number): number {
  const recent = mostRecentSlot({ ...search, startingDeadlineSeconds: undefined }, nowMs);
  return delayUntilNextMs(recent, search.schedule, nowMs);
}

/** The same where the most recent slot is known. @param recent - As {@link mostRecentSlot} has it without a deadline. */
export function delayUntilNextMs(recent: RecentSlot | undefined, schedule: Schedule, nowMs: number): number {
  const slotMs = recent === undefined ? nextOf(schedule, nowMs) : recent.nextMs;
  return slotMs + TIMER_DELAY_MS - nowMs;
}

export interface SlotList {
  readonly count: number;
  /** False when `count` is extrapolated from the pace of the slots listed. */
  readonly exact: boolean;
  /** The first of them, oldest first, at most as many as asked for. */
  readonly slotsMs: readonly number[];
}

/** The slots strictly after `afterMs` and not later than `untilMs`. Looks at no more than `limit` + 1 of them. */
export function slotsBetween(schedule: Schedule, afterMs: number, untilMs: number, limit = 100): SlotList {
  const slotsMs: number[] = [];
  for (let next = nextOf(schedule, afterMs); next <= untilMs && next !== NEVER; next = nextOf(schedule, next)) {
    if (slotsMs.length === limit) return { count: extrapolate(slotsMs, next, untilMs), exact: false, slotsMs };
    slotsMs.push(next);
  }
  return { count: slotsMs.length, exact: true, slotsMs };
}

function extrapolate(slotsMs: readonly number[], nextMs: number, untilMs: number): number {
  const paceMs = (nextMs - (slotsMs[0] ?? nextMs)) / Math.max(1, slotsMs.length);
  return slotsMs.length + 1 + (paceMs > 0 ? Math.floor((untilMs - nextMs) / paceMs) : 0);
}

function nextOf(schedule: Schedule, afterMs: number): number {
  return afterMs === NEVER ? NEVER : (schedule.next(afterMs) ?? NEVER);
}

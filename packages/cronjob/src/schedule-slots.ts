import { secondsAsDurationMs } from "@kubewright/api";
import type { Schedule } from "@kubewright/cron";

/** Inputs of the slot search for a CronJob. Times are epoch milliseconds. */
export interface SlotSearch {
  readonly schedule: Schedule;
  readonly createdMs: number;
  /** `status.lastScheduleTime`. */
  readonly lastScheduleMs?: number | undefined;
  /** `spec.startingDeadlineSeconds`; also absent where upstream ignores it. */
  readonly startingDeadlineSeconds?: number | undefined;
}

/** Number of missed slots, which the controller estimates from the schedule's first interval. */
export type MissedClass = "none" | "few" | "many";

export interface RecentSlot {
  /** Start of the search: slots at or before it are ignored. */
  readonly earliestMs: number;
  /** The most recent due slot, if any. */
  readonly slotMs?: number;
  readonly missed: MissedClass;
  /** The slot for the next timer; {@link NEVER} when the schedule has none. */
  readonly nextMs: number;
}

/** "No such time" in comparisons: before every other time, like upstream's zero time. */
export const NEVER = Number.NEGATIVE_INFINITY;

/** More missed slots cause the TooManyMissedTimes warning. The controller still starts the most recent slot. */
const MANY_MISSED = 100;

/**
 * Returns the slot to start now: the most recent due slot after the last started one (or after creation), if any.
 *
 * The number of missed slots is an estimate from the first interval. The search for the most recent slot reaches back
 * between one and two such intervals. On an irregular schedule the search can miss a slot, which is then never started.
 * Upstream has the same behaviour, so it is kept.
 *
 * @returns `undefined` when two slots are less than a second apart, which indicates a schedule that never fires.
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
  // Not `< 1`: the difference of two `NEVER` values is NaN.
  if (!(intervalSeconds >= 1)) return undefined;

  const missedEstimate = Math.floor(Math.trunc((nowMs - firstMs) / 1000) / intervalSeconds) + 1;
  const missed = missedEstimate > MANY_MISSED ? "many" : missedEstimate > 0 ? "few" : "none";
  let slotMs: number | undefined;
  let nextMs = nextOf(schedule, firstMs + (missedEstimate - 2) * intervalSeconds * 1000);
  // Stops at NEVER, where upstream would loop for ever.
  while (nextMs <= nowMs && nextMs !== NEVER) {
    slotMs = nextMs;
    nextMs = nextOf(schedule, nextMs);
  }
  if (slotMs === undefined) return { earliestMs, missed, nextMs: nextOf(schedule, nowMs) };
  return { earliestMs, slotMs, missed, nextMs };
}

/**
 * Returns the start of the search (exclusive): the last started slot, creation, or the limit of the deadline. A
 * deadline that overflows may move the start far into the future.
 */
export function windowStart({ createdMs, lastScheduleMs, startingDeadlineSeconds }: SlotSearch, nowMs: number): number {
  const earliestMs = lastScheduleMs ?? createdMs;
  return startingDeadlineSeconds === undefined
    ? earliestMs
    : Math.max(earliestMs, nowMs + secondsAsDurationMs(-startingDeadlineSeconds));
}

/** Milliseconds that every timer adds to its slot, so that it never fires too early. */
export const TIMER_DELAY_MS = 100;

/**
 * Returns the milliseconds until the next sync of the CronJob. Not positive means immediately, {@link NEVER} means that
 * the schedule has no further slot. The deadline is ignored.
 *
 * @see kubernetes v1.36 pkg/controller/cronjob/cronjob_controllerv2.go nextScheduleTimeDuration
 */
export function nextScheduleDelayMs(search: SlotSearch, nowMs: number): number {
  const recent = mostRecentSlot({ ...search, startingDeadlineSeconds: undefined }, nowMs);
  return delayUntilNextMs(recent, search.schedule, nowMs);
}

/**
 * Same as {@link nextScheduleDelayMs} with a known most recent slot. @param recent - Result of {@link mostRecentSlot}
 * without a deadline.
 */
export function delayUntilNextMs(recent: RecentSlot | undefined, schedule: Schedule, nowMs: number): number {
  const slotMs = recent === undefined ? nextOf(schedule, nowMs) : recent.nextMs;
  return slotMs + TIMER_DELAY_MS - nowMs;
}

export interface SlotList {
  readonly count: number;
  /** False when `count` is extrapolated from the listed slots. */
  readonly exact: boolean;
  /** The first slots, oldest first, at most `limit`. */
  readonly slotsMs: readonly number[];
}

/** Returns the slots strictly after `afterMs` and not later than `untilMs`. Computes at most `limit` + 1 slots. */
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

import type { Schedule, TimeZoneCache } from "@kubewright/cron";

/**
 * Slots one after the other, with the shortest and the longest time between two of those that were looked at, wherever
 * there are others leaving out those with a change of the clock between them, and of equal ones the first.
 */
export interface Slots {
  readonly schedule: Schedule;
  /** A while before the first slot: a window that begins there has these very slots, those of @every too. */
  readonly startMs: number;
  readonly shortest: Gap;
  readonly longest: Gap;
}

/** Two slots without one between them. */
export interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Slots looked at, and how far ahead. */
const MAX = 1000;
const FURTHEST_MS = 10 * 366 * 24 * 3_600_000;
export const AHEAD_MS = 60_000;

/** The slots after a time; `undefined` where there are not two. */
export function slotsAfter(afterMs: number, schedule: Schedule, zones: TimeZoneCache): Slots | undefined {
  const firstMs = schedule.next(afterMs);
  if (firstMs === undefined) return undefined;
  const startMs = Math.max(afterMs, firstMs - AHEAD_MS);
  const gaps: Gap[] = [];
  let fromMs = schedule.next(startMs);
  while (fromMs !== undefined && gaps.length < MAX && fromMs < afterMs + FURTHEST_MS) {
    const toMs = schedule.next(fromMs);
    if (toMs !== undefined) gaps.push({ fromMs, toMs });
    fromMs = toMs;
  }
  const zone = zones.get(schedule.timeZone);
  const offsetAt = (timeMs: number): number | undefined => zone?.offsetAt(Math.floor(timeMs / 1000));
  const steady = gaps.filter((gap) => offsetAt(gap.fromMs) === offsetAt(gap.toMs));
  const counted = (steady.length > 0 ? steady : gaps).sort((a, b) => lengthOf(a) - lengthOf(b));
  const [shortest] = counted;
  const longest = counted.at(-1);
  return shortest === undefined || longest === undefined ? undefined : { schedule, startMs, shortest, longest };
}

export function lengthOf({ fromMs, toMs }: Gap): number {
  return toMs - fromMs;
}

/** Where to begin so that a slot is the first: of @every, that depends on when the CronJob was created. */
export function startBefore({ fromMs }: Gap, { schedule, startMs }: Slots): number {
  const aheadMs = fromMs - AHEAD_MS;
  return schedule.next(aheadMs) === fromMs ? aheadMs : startMs;
}

import type { Schedule, TimeZoneCache } from "@kubewright/cron";

/**
 * The slots of a schedule, with the shortest and the longest time between two consecutive slots.
 *
 * Pairs with a clock change between them are excluded if there are other pairs. Of equal pairs the first counts.
 */
export interface Slots {
  readonly schedule: Schedule;
  /** A time before the first slot. A window that begins here has exactly these slots, also for `@every`. */
  readonly startMs: number;
  readonly shortest: Gap;
  readonly longest: Gap;
}

/** Two consecutive slots. */
export interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Limits of the search: number of slots, and time ahead. */
const MAX = 1000;
const FURTHEST_MS = 10 * 366 * 24 * 3_600_000;
export const AHEAD_MS = 60_000;

/** Returns the slots after a time; `undefined` when there are fewer than two. */
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

/**
 * Returns a start time for which the gap's first slot is the first slot. For `@every` the slots depend on the creation
 * time of the CronJob.
 */
export function startBefore({ fromMs }: Gap, { schedule, startMs }: Slots): number {
  const aheadMs = fromMs - AHEAD_MS;
  return schedule.next(aheadMs) === fromMs ? aheadMs : startMs;
}

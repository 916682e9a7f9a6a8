import { type Schedule, parseSchedule } from "@kubewright/cron";

import type { LintContext } from "./lint-context.js";
import type { Subject } from "./subject.js";

/** Slots one after the other, with the shortest and the longest time between any two of those that were looked at. */
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

/** Slots looked at. */
const MOST = 1000;
export const AHEAD_MS = 60_000;

/** The schedule of a CronJob; `undefined` of a Job, and for what cannot be read. */
export function scheduleOf({ cronJob }: Subject, { zones }: LintContext): Schedule | undefined {
  const { schedule, timeZone } = cronJob ?? {};
  if (typeof schedule !== "string") return undefined;
  try {
    return parseSchedule(schedule, { zones, timeZone: typeof timeZone === "string" ? timeZone : "UTC" });
  } catch {
    return undefined;
  }
}

/** The next slots of a CronJob; `undefined` where there are not two. */
export function slotsOf(subject: Subject, context: LintContext): Slots | undefined {
  const schedule = scheduleOf(subject, context);
  const firstMs = schedule?.next(context.fromMs);
  if (schedule === undefined || firstMs === undefined) return undefined;
  const startMs = Math.max(context.fromMs, firstMs - AHEAD_MS);
  let fromMs = schedule.next(startMs);
  let shortest: Gap | undefined;
  let longest: Gap | undefined;
  for (let count = 1; count < MOST && fromMs !== undefined; count++) {
    const toMs = schedule.next(fromMs);
    if (toMs === undefined) break;
    const gap = { fromMs, toMs };
    if (shortest === undefined || lengthOf(gap) < lengthOf(shortest)) shortest = gap;
    if (longest === undefined || lengthOf(gap) > lengthOf(longest)) longest = gap;
    fromMs = toMs;
  }
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

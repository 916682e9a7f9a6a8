import { parseSchedule } from "@kubewright/cron";

import type { ReportData } from "../report/report-data.js";
import { type SkippedRow, type TimelineGroup, rowTime } from "../timeline.js";
import { type Transition, ZonedTime, isZone } from "./zoned-time.js";

/**
 * Adds what no controller ever sees: runs whose time of day does not exist because the clocks were put forward over it.
 * Schedules that fire before and after the gap just as well, such as hourly ones, lose nothing and get no ghost.
 */
export function withClockGaps(data: ReportData): ReportData {
  const transitions = new Map<string, readonly Transition[]>();
  const groups = data.groups.map((group) => {
    const zone = group.cronJob?.timeZone ?? "UTC";
    if (group.cronJob === undefined || group.cronJob.suspend || !isZone(zone)) return group;
    let jumps = transitions.get(zone);
    if (jumps === undefined) transitions.set(zone, (jumps = new ZonedTime(zone).transitions(data.startMs, data.endMs)));
    const ghosts = jumps.flatMap((transition) => lostSlots(group.cronJob!.schedule, transition));
    return ghosts.length === 0 ? group : withRows(group, ghosts);
  });
  const found = groups.reduce((sum, { rows }, index) => sum + rows.length - data.groups[index]!.rows.length, 0);
  return { ...data, groups, totals: { ...data.totals, runsSkipped: data.totals.runsSkipped + found } };
}

function lostSlots(schedule: string, { zone, atMs, beforeMs, afterMs }: Transition): SkippedRow[] {
  const gapMs = afterMs - beforeMs;
  if (gapMs <= 0) return [];
  const [real, wall] = [zone, "UTC"].map((timeZone) => parsed(schedule, timeZone));
  if (real === undefined || wall === undefined) return [];
  const firesIn = (fromMs: number): boolean => (real.next(fromMs - 1) ?? Infinity) < fromMs + gapMs;
  if (firesIn(atMs - gapMs) && firesIn(atMs)) return [];
  const slots: SkippedRow[] = [];
  const gapEnd = atMs + afterMs;
  for (
    let wallMs = wall.next(atMs + beforeMs - 1);
    wallMs !== undefined && wallMs < gapEnd;
    wallMs = wall.next(wallMs)
  ) {
    const clock = new Date(wallMs).toISOString().slice(11, 16);
    slots.push({
      type: "skipped",
      slotMs: atMs,
      reason: `${clock} does not exist that day: clocks go forward (${zone})`,
    });
    if (slots.length === MOST_GHOSTS) break;
  }
  return slots
    .slice(0, 1)
    .map((slot) =>
      slots.length === 1 ? slot : { ...slot, reason: `${slot.reason}, nor ${slots.length - 1} later slots` },
    );
}

const MOST_GHOSTS = 60;

function parsed(schedule: string, timeZone: string): ReturnType<typeof parseSchedule> | undefined {
  try {
    return parseSchedule(schedule, { timeZone });
  } catch {
    return undefined;
  }
}

function withRows(group: TimelineGroup, ghosts: readonly SkippedRow[]): TimelineGroup {
  return { ...group, rows: [...group.rows, ...ghosts].sort((a, b) => rowTime(a) - rowTime(b)) };
}

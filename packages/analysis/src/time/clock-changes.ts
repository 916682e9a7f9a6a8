import type { ScheduleTransition } from "@kubewright/cron";

import { type ZonedClock, weekday } from "./zoned-clock.js";

/** The effect of a clock change on a schedule, as text for one point in a list of runs. */
export interface ClockRemark {
  readonly atMs: number;
  /** The affected run; absent for a wall time without a run. */
  readonly runMs?: number;
  readonly text: string;
}

/** Maximum number of wall times that are listed; the others of the same night are counted. */
const MAX_NAMED = 3;

/** Returns the remarks for a list of runs, ordered by time. Clock changes without effect on the schedule have none. */
export function clockRemarks(transitions: readonly ScheduleTransition[], clock: ZonedClock): ClockRemark[] {
  return transitions.flatMap((transition) => {
    const { atMs, kind, skipped, repeated, misplaced } = transition;
    const change = changeText(transition, clock);
    const remarks: ClockRemark[] = [];
    if (skipped.length > 0) {
      const why = kind === "gap" ? `${change}, so no run` : `no run: ${change}`;
      remarks.push({ atMs, text: `${wallTimes(skipped)}: ${why}` });
    }
    for (const runMs of repeated) {
      remarks.push({ atMs: runMs, runMs, text: `${clock.timeOfDay(runMs)} for the second time: ${change}` });
    }
    for (const runMs of misplaced) {
      remarks.push({ atMs: runMs, runMs, text: `not a time of this schedule, but it runs: ${change}` });
    }
    return remarks;
  });
}

/** `clocks go forward from 02:00 to 03:00`; the difference is the change of the zone's offset. */
function changeText({ kind, atMs, offsetBeforeMs, offsetAfterMs }: ScheduleTransition, clock: ZonedClock): string {
  const before = new Date(atMs + offsetBeforeMs).toISOString().slice(11, 16);
  const after = clock.timeOfDay(atMs);
  const direction = kind === "gap" ? "forward" : "back";
  const wholeDay = Math.abs(offsetAfterMs - offsetBeforeMs) >= 24 * 3_600_000;
  return wholeDay ? `the zone leaves out a day at ${before}` : `clocks go ${direction} from ${before} to ${after}`;
}

function wallTimes(walls: readonly string[]): string {
  const [first = ""] = walls;
  const names = walls
    .slice(0, MAX_NAMED)
    .map((wall, index) => (index > 0 && wall.slice(0, 10) === first.slice(0, 10) ? wall.slice(11) : wallText(wall)));
  const rest = walls.length - names.length;
  return `${names.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

/** `2024-03-10T02:30` as `Sun 2024-03-10 02:30`. */
function wallText(wall: string): string {
  return `${weekday(Date.parse(`${wall}Z`))} ${wall.replace("T", " ")}`;
}

import { type Schedule, type ScheduleTransition, explainSchedule } from "@kubewright/cron";

import { clockRemarks } from "../../time/clock-changes.js";
import { clockEffects } from "../../time/clock-effects.js";
import { ZonedClock } from "../../time/zoned-clock.js";
import type { LintContext } from "../lint-context.js";
import type { LintRule } from "../lint-rule.js";
import { AHEAD_MS } from "../slots.js";
import type { Subject } from "../subject.js";

const DAY_MS = 24 * 3_600_000;
const TWO_YEARS_MS = 2 * 365.25 * DAY_MS;

export const lostAtClockChange: LintRule = {
  name: "lost-at-clock-change",
  level: "warning",
  summary: "A change of the clock leaves out a run within two years",
  check: (subject, context) => {
    const parsed = context.scheduleOf(subject);
    if (parsed === undefined) return [];
    const { fromMs, zones } = context;
    const { timeZone } = parsed;
    const { schedule = "" } = subject.cronJob ?? {};
    const { lost } = clockEffects({ schedule, timeZone, active: [] }, fromMs, fromMs + TWO_YEARS_MS, zones);
    const [first] = lost;
    if (first === undefined) return [];
    const object = `${subject.namespace}/${subject.name}`;
    return [
      {
        text: `a change of the clock leaves out a run: ${first.reason}${andMore(lost.length)}; choose a time of day that every day has`,
        path: ["spec", "schedule"],
        proof: {
          startMs: first.slotMs - AHEAD_MS,
          durationMs: 2 * AHEAD_MS,
          flags: ["--fail-on", `${object}:missed`],
          shows: `missed: ${object}`,
        },
      },
    ];
  },
};

export const doubledAtClockChange: LintRule = {
  name: "doubled-at-clock-change",
  level: "warning",
  summary: "A change of the clock makes a run happen twice within two years",
  check: (subject, context) => {
    const schedule = context.scheduleOf(subject);
    if (schedule === undefined) return [];
    const doubled = transitionsOf(subject, schedule, context).filter(
      (each) => each.repeated.length > 0 && !firesOnBothSides(schedule, each),
    );
    const [first] = doubled;
    const runMs = first?.repeated[0];
    if (first === undefined || runMs === undefined) return [];
    const clock = new ZonedClock(schedule.timeZone, context.zones);
    const remark = clockRemarks([first], clock).find((each) => each.runMs === runMs);
    const startMs = runMs - backMs(first) - AHEAD_MS;
    // Forbid lets the second run wait for the first.
    const mayWait = subject.cronJob?.concurrencyPolicy === "Forbid" && (subject.runs?.maxMs ?? 0) >= backMs(first);
    const proof = { startMs, durationMs: runMs + AHEAD_MS - startMs, shows: "for the second time: clocks go back" };
    return [
      {
        text: `a change of the clock makes a run happen twice: ${clock.rfc3339(runMs).slice(0, 10)}, ${remark?.text}${andMore(doubled.length)}; choose a time of day that no day has twice`,
        path: ["spec", "schedule"],
        ...(mayWait ? {} : { proof }),
      },
    ];
  },
};

/** Returns the effects of the zone's clock changes on a schedule. */
function transitionsOf({ cronJob }: Subject, schedule: Schedule, { fromMs, zones }: LintContext): ScheduleTransition[] {
  const zone = zones.get(schedule.timeZone);
  const changes = zone?.transitions(Math.floor(fromMs / 1000), Math.floor((fromMs + TWO_YEARS_MS) / 1000)) ?? [];
  return changes.flatMap(({ at }) => {
    const window = { fromMs: at * 1000 - 2 * DAY_MS, toMs: at * 1000 + 2 * DAY_MS, limit: MAX_RUNS };
    return explainSchedule(cronJob?.schedule ?? "", {
      ...window,
      timeZone: schedule.timeZone,
      zones,
    }).transitions.filter(({ atMs }) => atMs === at * 1000);
  });
}

/** Runs of four days, one per minute. */
const MAX_RUNS = 6_000;

function backMs({ offsetBeforeMs, offsetAfterMs }: ScheduleTransition): number {
  return offsetBeforeMs - offsetAfterMs;
}

/**
 * Whether the schedule fires both before and after the repeated times. An hourly schedule stays hourly through a clock
 * change.
 */
function firesOnBothSides(schedule: Schedule, transition: ScheduleTransition): boolean {
  const lengthMs = backMs(transition);
  const firesFrom = (fromMs: number): boolean => (schedule.next(fromMs - 1) ?? Infinity) < fromMs + lengthMs;
  return firesFrom(transition.atMs - 2 * lengthMs) && firesFrom(transition.atMs + lengthMs);
}

function andMore(count: number): string {
  return count === 1 ? "" : `, and ${count === 2 ? "again" : `${count - 1} times more`} within two years`;
}

import { type ClockEffects, clockEffects } from "../../clock-effects.js";
import type { LintContext } from "../lint-context.js";
import type { LintRule, LintRemark } from "../lint-rule.js";
import { AHEAD_MS, scheduleOf } from "../slots.js";
import type { Subject } from "../subject.js";

const TWO_YEARS_MS = 2 * 365.25 * 24 * 3_600_000;

export const lostAtClockChange: LintRule = {
  name: "lost-at-clock-change",
  level: "warning",
  summary: "A change of the clock leaves out a run within two years",
  check: (subject, context) => {
    const { lost } = effectsOn(subject, context);
    const [first] = lost;
    if (first === undefined) return [];
    return [
      {
        text: `a change of the clock leaves out a run: ${first.reason}${andMore(lost.length)}; choose a time of day that every day has`,
        path: ["spec", "schedule"],
        proof: {
          startMs: first.slotMs - AHEAD_MS,
          durationMs: 2 * AHEAD_MS,
          flags: ["--fail-on", `${subject.namespace}/${subject.name}:missed`],
          shows: `missed: ${subject.namespace}/${subject.name}`,
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
    const repeated = [...effectsOn(subject, context).repeated].filter(
      ([runMs, remark]) => remark.includes("second time") && !runsEveryHour(subject, context, runMs),
    );
    const [first] = repeated;
    if (first === undefined) return [];
    const [runMs, reason] = first;
    const schedule = scheduleOf(subject, context)!;
    // The same time of day came before: an hour earlier, in all zones but few.
    const date = new Date(runMs).toISOString().slice(0, 10);
    const beforeMs = schedule.next(runMs - 3 * HOUR_MS) ?? runMs;
    const remark: LintRemark = {
      text: `a change of the clock makes a run happen twice: on ${date}, ${reason}${andMore(repeated.length)}; choose a time of day that no day has twice`,
      path: ["spec", "schedule"],
      proof: {
        startMs: beforeMs - AHEAD_MS,
        durationMs: runMs - beforeMs + 2 * AHEAD_MS,
        shows: "for the second time: clocks go back",
      },
    };
    return [remark];
  },
};

const HOUR_MS = 3_600_000;

/** A run every hour stays one, whatever the clock shows: so it fires in the hours before those that come twice, and after. */
function runsEveryHour(subject: Subject, context: LintContext, runMs: number): boolean {
  const schedule = scheduleOf(subject, context);
  const firesIn = (fromMs: number): boolean => (schedule?.next(fromMs - 1) ?? Infinity) < fromMs + HOUR_MS;
  return firesIn(runMs - 2 * HOUR_MS) && firesIn(runMs + 1);
}

function effectsOn({ cronJob }: Subject, { fromMs, zones }: LintContext): ClockEffects {
  const { schedule, timeZone } = cronJob ?? {};
  if (typeof schedule !== "string") return { lost: [], repeated: new Map() };
  const zone = typeof timeZone === "string" ? { timeZone } : {};
  return clockEffects({ schedule, ...zone, active: [] }, fromMs, fromMs + TWO_YEARS_MS, zones);
}

function andMore(count: number): string {
  return count === 1 ? "" : `, and ${count === 2 ? "once" : `${count - 1} times`} more within two years`;
}

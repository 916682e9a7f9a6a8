import { formatTime } from "@kubewright/api";

import { formatDuration } from "../../time/duration.js";
import { isDelayBeyondDeadline } from "../lint-context.js";
import type { LintRule } from "../lint-rule.js";
import { AHEAD_MS } from "../slots.js";
import { numberIn } from "../subject.js";

const YEAR_MS = 366 * 24 * 3_600_000;

export const neverFires: LintRule = {
  name: "never-fires",
  level: "error",
  summary: "The schedule has no run within five years",
  check: (subject, context) => {
    const schedule = context.scheduleOf(subject);
    if (schedule === undefined || schedule.next(context.fromMs) !== undefined) return [];
    const text = `the schedule ${JSON.stringify(subject.cronJob?.schedule)} has no run within five years: no date is like that`;
    return [{ text, path: ["spec", "schedule"] }];
  },
};

export const rarelyFires: LintRule = {
  name: "rarely-fires",
  level: "warning",
  summary: "More than a year goes by between two runs",
  check: (subject, context) => {
    const schedule = context.scheduleOf(subject);
    const firstMs = schedule?.next(context.fromMs);
    if (schedule === undefined || firstMs === undefined) return [];
    const secondMs = schedule.next(firstMs) ?? Infinity;
    if (firstMs - context.fromMs <= YEAR_MS && secondMs - firstMs <= YEAR_MS) return [];
    const second = secondMs === Infinity ? "then not within five years" : `then at ${formatTime(secondMs)}`;
    const text = `the schedule ${JSON.stringify(subject.cronJob?.schedule)} runs at ${formatTime(firstMs)}, ${second}: more than a year goes by without a run`;
    return [{ text, path: ["spec", "schedule"] }];
  },
};

export const neverStarts: LintRule = {
  name: "never-starts",
  level: "error",
  summary: "@every with a deadline shorter than its delay: the controller never starts a run",
  check: (subject, context) => {
    const schedule = context.scheduleOf(subject);
    if (schedule === undefined || !isDelayBeyondDeadline(subject, schedule)) return [];
    const deadlineMs = (numberIn(subject.cronJob?.startingDeadlineSeconds) ?? 0) * 1000;
    const startMs = Math.ceil(context.fromMs / 1000) * 1000;
    const delayMs = (schedule.next(startMs) ?? startMs) - startMs;
    const object = `${subject.namespace}/${subject.name}`;
    return [
      {
        text: `no run is ever started: the controller looks back no further than startingDeadlineSeconds, ${formatDuration(deadlineMs)}, and counts the ${formatDuration(delayMs)} of @every from there; leave out the deadline, make it ${delayMs / 1000} or more, or name times of day`,
        path: ["spec", "startingDeadlineSeconds"],
        proof: {
          startMs,
          // The controller detects the miss when it searches for the second slot.
          durationMs: 2 * delayMs + AHEAD_MS,
          flags: ["--fail-on", `${object}:missed`],
          shows: `missed: ${object}`,
        },
      },
    ];
  },
};

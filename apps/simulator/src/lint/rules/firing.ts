import { formatTime } from "@kubewright/api";

import type { LintRule } from "../lint-rule.js";
import { scheduleOf } from "../slots.js";

const YEAR_MS = 366 * 24 * 3_600_000;

export const neverFires: LintRule = {
  name: "never-fires",
  level: "error",
  summary: "The schedule has no run within five years",
  check: (subject, context) => {
    const schedule = scheduleOf(subject, context);
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
    const schedule = scheduleOf(subject, context);
    const firstMs = schedule?.next(context.fromMs);
    if (schedule === undefined || firstMs === undefined) return [];
    const secondMs = schedule.next(firstMs) ?? Infinity;
    if (firstMs - context.fromMs <= YEAR_MS && secondMs - firstMs <= YEAR_MS) return [];
    const second = secondMs === Infinity ? "then not within five years" : `then at ${formatTime(secondMs)}`;
    const text = `the schedule ${JSON.stringify(subject.cronJob?.schedule)} runs at ${formatTime(firstMs)}, ${second}: more than a year goes by without a run`;
    return [{ text, path: ["spec", "schedule"] }];
  },
};

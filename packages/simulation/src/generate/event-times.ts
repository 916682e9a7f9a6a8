import { parseDuration } from "@kubewright/clock";

import type { FaultPlan } from "../fault-plan.js";
import { type ScenarioEventEntry, definitionOf, kindOf } from "../faults/registry.js";

/** Returns the start of a plan's event, in milliseconds from the plan's start. */
export function startOfScenarioEvent({ at }: ScenarioEventEntry): number {
  return parseDuration(at.slice(1)) ?? 0;
}

/** Returns the end of an event; an event that lasts until the plan's end counts with duration 0. */
export function endOfScenarioEvent(entry: ScenarioEventEntry): number {
  const kind = kindOf(entry);
  const lasts = kind === undefined ? undefined : definitionOf(kind).lasts;
  const byDefault = typeof lasts === "object" ? lasts.byDefault : undefined;
  return startOfScenarioEvent(entry) + (parseDuration(entry.for ?? byDefault ?? "0s") ?? 0);
}

/** Returns the end of a plan's last event. */
export function lastEndMs({ events = [] }: Pick<FaultPlan, "events">): number {
  return Math.max(0, ...events.map(endOfScenarioEvent));
}

/** Returns the length of a plan. */
export function lengthMs(plan: Pick<FaultPlan, "for">): number {
  return parseDuration(plan.for) ?? 0;
}

/** Returns the events sorted by start time; the sort is stable. */
export function sortByStart(entries: readonly ScenarioEventEntry[]): ScenarioEventEntry[] {
  return entries.toSorted((a, b) => startOfScenarioEvent(a) - startOfScenarioEvent(b));
}

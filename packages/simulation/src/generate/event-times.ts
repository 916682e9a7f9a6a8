import { parseDuration } from "@kubewright/clock";

import { type ScenarioEventEntry, LASTING } from "../scenario/scenario-file.js";

/** When a happening of a plan begins, in milliseconds from the plan's start. */
export function startOfScenarioEvent({ at }: ScenarioEventEntry): number {
  return parseDuration(at.slice(1)) ?? 0;
}

/** When it is over; one that would last until the plan's end counts as if it lasted no time. */
export function endOfScenarioEvent(entry: ScenarioEventEntry): number {
  const lasts = Object.entries(LASTING).find(([kind]) => kind in entry)?.[1];
  const byDefault = typeof lasts === "object" ? lasts.byDefault : undefined;
  return startOfScenarioEvent(entry) + (parseDuration(entry.for ?? byDefault ?? "0s") ?? 0);
}

/** By the time they begin; those of one time stay as they are. */
export function sortByStart(entries: readonly ScenarioEventEntry[]): ScenarioEventEntry[] {
  return entries.toSorted((a, b) => startOfScenarioEvent(a) - startOfScenarioEvent(b));
}

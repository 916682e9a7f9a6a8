import { parseDuration } from "@kubewright/clock";

import { type HappeningEntry, LASTING } from "../scenario/scenario-file.js";

/** When a happening of a plan begins, in milliseconds from the plan's start. */
export function startOfHappening({ at }: HappeningEntry): number {
  return parseDuration(at.slice(1)) ?? 0;
}

/** When it is over; one that would last until the plan's end counts as if it lasted no time. */
export function endOfHappening(entry: HappeningEntry): number {
  const lasts = Object.entries(LASTING).find(([kind]) => kind in entry)?.[1];
  const byDefault = typeof lasts === "object" ? lasts.byDefault : undefined;
  return startOfHappening(entry) + (parseDuration(entry.for ?? byDefault ?? "0s") ?? 0);
}

/** By the time they begin; those of one time stay as they are. */
export function inOrder(entries: readonly HappeningEntry[]): HappeningEntry[] {
  return entries.toSorted((a, b) => startOfHappening(a) - startOfHappening(b));
}

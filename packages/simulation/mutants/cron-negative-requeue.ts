import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "cron-negative-requeue",
  entry: "#22",
  issue: "kubernetes/kubernetes#121327",
  sentence:
    "Where the search finds none of the slots that were missed, the next sync is due when the first of them was: at once, for ever.",
  inPlan: [/CronJob/],
  changes: [
    {
      file: "packages/cronjob/src/schedule-slots.ts",
      find: "if (slotMs === undefined) return { earliestMs, missed, nextMs: nextOf(schedule, nowMs) };",
      replace: "if (slotMs === undefined) return { earliestMs, missed, nextMs: firstMs };",
    },
  ],
};

import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "cron-negative-requeue",
  entry: "#22",
  issue: "kubernetes/kubernetes#121327",
  sentence:
    "Where the search finds none of the missed slots, the next sync is due at the first of them: immediately, in an endless loop.",
  inPlan: [/CronJob/],
  changes: [
    {
      file: "packages/cronjob/src/schedule-slots.ts",
      find: "if (slotMs === undefined) return { earliestMs, missed, nextMs: nextOf(schedule, nowMs) };",
      replace: "if (slotMs === undefined) return { earliestMs, missed, nextMs: firstMs };",
    },
  ],
};

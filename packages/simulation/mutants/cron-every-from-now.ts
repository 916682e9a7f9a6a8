import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "cron-every-from-now",
  entry: "#21",
  issue: "kubernetes/kubernetes#104012",
  sentence:
    "The next run of an @every schedule is counted from now instead of from the last run: every sync of the CronJob postpones it.",
  inPlan: [/@every/],
  changes: [
    {
      file: "packages/cronjob/src/schedule-slots.ts",
      find: "const slotMs = recent === undefined ? nextOf(schedule, nowMs) : recent.nextMs;",
      replace: "const slotMs = nextOf(schedule, nowMs);",
    },
  ],
};

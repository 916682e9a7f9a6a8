import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "cron-replace-first-only",
  entry: "own",
  sentence: "With `Replace` a CronJob deletes one of several active Jobs and no other.",
  inPlan: [/Replace/],
  changes: [
    {
      file: "packages/cronjob/src/plan-cron-job.ts",
      find: 'concurrencyPolicy === "Replace" ? active : []',
      replace: 'concurrencyPolicy === "Replace" ? active.slice(0, 1) : []',
    },
  ],
};

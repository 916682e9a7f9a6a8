import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "cron-history-unfinished",
  entry: "3.1",
  sentence: "Unfinished Jobs count for the history limits: finished Jobs are deleted before the limit is reached.",
  inPlan: [/CronJob/],
  changes: [
    {
      file: "packages/cronjob/src/finished-jobs.ts",
      find: "for (const job of jobs) if (finishedCondition(job)?.type === end) count++;",
      replace: "for (const job of jobs) if ((finishedCondition(job)?.type ?? end) === end) count++;",
    },
  ],
};

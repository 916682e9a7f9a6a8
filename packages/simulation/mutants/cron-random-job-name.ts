import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "cron-random-job-name",
  entry: "3.1",
  sentence:
    "Jobs of a CronJob have random names: a controller that crashes before it writes the status starts the same run again.",
  inPlan: [/CronJob/],
  changes: [
    {
      file: "packages/cronjob/src/job-from-template.ts",
      find: 'name: jobNameFor(cronJob.metadata.name ?? "", slotMs),',
      replace: "generateName: `${cronJob.metadata.name}-`,",
    },
  ],
};

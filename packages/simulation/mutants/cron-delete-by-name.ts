import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "cron-delete-by-name",
  entry: "1.3",
  sentence: "A CronJob deletes Jobs by name alone, and so another that has taken the name of one that was to go.",
  inPlan: [/CronJob/, /"apply":\{"apiVersion":"batch\/v1"/],
  changes: [
    {
      file: "packages/cronjob/src/sync-cron-job.ts",
      find: "const preconditions = uid === undefined ? {} : { preconditions: { uid } };",
      replace: "const preconditions = {};",
    },
  ],
};

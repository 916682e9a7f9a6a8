import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "cron-delete-by-name",
  entry: "1.3",
  sentence:
    "A CronJob deletes Jobs by name without a UID precondition, and may delete another Job that has taken the name.",
  inPlan: [/CronJob/, /"apply":\{"apiVersion":"batch\/v1"/],
  changes: [
    {
      file: "packages/cronjob/src/sync-cron-job.ts",
      find: "const preconditions = uid === undefined ? {} : { preconditions: { uid } };",
      replace: "const preconditions = {};",
    },
  ],
};

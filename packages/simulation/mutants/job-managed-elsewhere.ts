import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-managed-elsewhere",
  entry: "own",
  sentence: "Jobs that another controller manages are synced.",
  inPlan: [/managedBy/],
  changes: [
    {
      file: "packages/job/src/skip-reason.ts",
      find: "if (isManagedElsewhere(job, managedBy)) return skipped(",
      replace: "if (isManagedElsewhere(job, managedBy) && isJobFinished(job)) return skipped(",
    },
  ],
};

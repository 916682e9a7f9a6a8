import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-success-deletes-once",
  entry: "own",
  sentence: "Pods that were to go when their Job succeeded, and did not, as that was refused, are let be.",
  inPlan: [/"successPolicy"/],
  changes: [
    {
      file: "packages/job/src/track-pods.ts",
      find: "const final = recordsBeforeDeleting(plan) ? await deleteActivePods(sync) : outcome;",
      replace:
        "const final = recordsBeforeDeleting(plan) && !plan.end?.recorded ? await deleteActivePods(sync) : outcome;",
    },
  ],
};

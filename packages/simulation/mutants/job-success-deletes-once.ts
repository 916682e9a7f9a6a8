import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-success-deletes-once",
  entry: "own",
  sentence: "Pods that were to be deleted when their Job succeeded, and whose deletion was refused, are never deleted.",
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

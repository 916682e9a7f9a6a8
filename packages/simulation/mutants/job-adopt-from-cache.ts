import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-adopt-from-cache",
  entry: "3.1",
  issue: "kubernetes/kubernetes#42639",
  sentence:
    "A Job that is being deleted, which the cache does not show, adopts a pod that was just released; the pod is then deleted with it.",
  inPlan: [/"Orphan"|own-pod/],
  changes: [
    {
      file: "packages/job/src/claim-pods.ts",
      find: "canAdopt: recheckDeletionTimestamp(jobClient, job),",
      replace: "canAdopt: () => Promise.resolve(),",
    },
  ],
};

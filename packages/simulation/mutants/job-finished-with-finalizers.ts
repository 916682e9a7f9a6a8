import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-finished-with-finalizers",
  entry: "#8",
  issue: "kubernetes/kubernetes#119159",
  sentence: "A sync that stopped at the limit of pods that it may count ends the Job: the others are never counted.",
  needs: { limits: { maxUncountedPods: 3 } },
  changes: [
    {
      file: "packages/job/src/account-pods.ts",
      find: 'if (capReached) return { type: "PodsLeftToCount" };',
      replace: "",
    },
  ],
};

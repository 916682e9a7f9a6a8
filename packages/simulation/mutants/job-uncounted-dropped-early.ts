import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-uncounted-dropped-early",
  entry: "#5",
  issue: "kubernetes/kubernetes#104666",
  sentence:
    "All recorded pods become numbers, although a sync removes only a limited number of finalizers: pods that keep theirs are counted again.",
  needs: { limits: { maxUncountedPods: 2 } },
  inPlan: [/"maxUncountedPods":[235]\b/, /requestFails|apiServer|controllerCrashes|controllerDown|paused/],
  changes: [
    {
      file: "packages/job/src/account-pods.ts",
      find: "const withoutFinalizer = countPodsWithoutFinalizer(counted.draft, accounting.tracked, finalizerRemovedUIDs);",
      replace:
        "const withoutFinalizer = countPodsWithoutFinalizer(counted.draft, finalizerRemovalFailed ? accounting.tracked : [], finalizerRemovedUIDs);",
    },
  ],
};

import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-uncounted-dropped-early",
  entry: "#5",
  issue: "kubernetes/kubernetes#104666",
  sentence:
    "All recorded pods become numbers, though a sync frees no more than a limited number: those that keep their finalizer are counted again.",
  needs: { limits: { maxUncountedPods: 2 } },
  inPlan: [/"maxUncountedPods":[235]\b/, /requestFails|apiServer|controllerCrashes|controllerDown|paused/],
  changes: [
    {
      file: "packages/job/src/account-pods.ts",
      find: "const released = countReleased(counted.draft, accounting.tracked, releasedUIDs);",
      replace: "const released = countReleased(counted.draft, releaseFailed ? accounting.tracked : [], releasedUIDs);",
    },
  ],
};

import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-removed-count-failed",
  entry: "own",
  sentence: "Pods that are deleted because fewer, or none, are wanted keep their finalizer, and count as failed.",
  changes: [
    {
      file: "packages/job/src/apply-pod-plan.ts",
      find: "await removeTrackingFinalizer(sync.deps.podControl, pod, sync.signal);",
      replace: "",
    },
  ],
};

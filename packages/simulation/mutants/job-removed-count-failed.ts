import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-removed-count-failed",
  entry: "own",
  sentence: "Pods that go because fewer are wanted, or none, keep their finalizer, and count as failed.",
  changes: [
    {
      file: "packages/job/src/apply-pod-plan.ts",
      find: "await removeTrackingFinalizer(sync.deps.podControl, pod, sync.signal);",
      replace: "",
    },
  ],
};

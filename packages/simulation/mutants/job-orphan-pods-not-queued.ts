import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-orphan-pods-not-queued",
  entry: "#6",
  issue: "kubernetes/kubernetes#108645",
  sentence:
    "A pod without a Job that will look at it is not freed when it changes: one that comes, or loses its owner, after the Job has gone keeps its finalizer.",
  changes: [
    {
      file: "packages/job/src/event-handlers.ts",
      find: "if (hasTrackingFinalizer(pod)) orphanQueue.add(orphanPodKey(pod));",
      replace: "",
    },
  ],
};

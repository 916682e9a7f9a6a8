import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-orphan-pods-not-queued",
  entry: "#6",
  issue: "kubernetes/kubernetes#108645",
  sentence:
    "The finalizer of a pod without a Job that syncs it is not removed on changes: a pod that appears, or loses its owner, after the Job is gone keeps it.",
  changes: [
    {
      file: "packages/job/src/event-handlers.ts",
      find: "if (hasTrackingFinalizer(pod)) orphanQueue.add(orphanPodKey(pod));",
      replace: "",
    },
  ],
};

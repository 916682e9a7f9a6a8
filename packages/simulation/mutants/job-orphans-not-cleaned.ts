import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-orphans-not-cleaned",
  entry: "#6",
  issue: "kubernetes/kubernetes#108645",
  sentence:
    "When a Job is deleted, no sync handles its pods: those that were being deleted before keep their finalizer.",
  inPlan: [/"delete":\{/],
  changes: [
    {
      file: "packages/job/src/event-handlers.ts",
      find: `    addOrphans(job);
    memory.backoff.delete(keyOf(job));`,
      replace: "    memory.backoff.delete(keyOf(job));",
    },
  ],
};

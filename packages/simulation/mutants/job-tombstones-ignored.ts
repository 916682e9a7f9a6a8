import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-tombstones-ignored",
  entry: "E7",
  issue: "kubernetes/kubernetes#115658",
  sentence: "A pod that was deleted while the watch was interrupted queues no Job, and its expectations stay.",
  inPlan: [/"watchCut":\{("controller":"job-controller","kinds":\["Pod"\],)?"compacted":true|staleList/],
  changes: [
    {
      file: "packages/job/src/event-handlers.ts",
      find: `      const pod = deletedObject(deleted);
      if (pod !== undefined) onRemoved(pod, true);`,
      replace: "      if (!isDeletedFinalStateUnknown(deleted)) onRemoved(deleted, true);",
    },
  ],
};

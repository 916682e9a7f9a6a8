import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-finished-forgotten",
  entry: "#3",
  issue: "kubernetes/kubernetes#130103",
  sentence: "A sync of a finished Job whose cached copy is not finished yet creates new pods.",
  needs: { consistencyGate: "off" },
  inPlan: [/"consistencyGate":false/],
  changes: [
    {
      file: "packages/job/src/sync-job.ts",
      find: "return memory.finished.has(uid) ? undefined : job;",
      replace: "return job;",
    },
  ],
};

import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-failures-forgotten",
  entry: "#11",
  issue: "kubernetes/kubernetes#62382",
  sentence:
    "Only pods that have just failed count for backoffLimit, not earlier ones: a Job that always fails never ends.",
  changes: [
    {
      file: "packages/job/src/observed-pods.ts",
      find: "failed: (job.status?.failed ?? 0) + countedFailures + uncountedFailed.length,",
      replace: "failed: countedFailures,",
    },
  ],
};

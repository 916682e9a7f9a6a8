import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-onfailure-zero-limit",
  entry: "#14",
  issue: "kubernetes/kubernetes#67848",
  sentence: "A Job with restartPolicy OnFailure and a backoffLimit of 0 fails before its first pod has begun.",
  inPlan: [/OnFailure/],
  changes: [
    {
      file: "packages/job/src/end-state.ts",
      find: "return limit === 0 ? restarts > 0 : restarts >= limit;",
      replace: "return restarts >= limit;",
    },
  ],
};

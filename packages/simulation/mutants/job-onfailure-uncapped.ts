import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-onfailure-uncapped",
  entry: "#13",
  issue: "kubernetes/kubernetes#54870",
  sentence: "Restarts in place do not count for backoffLimit.",
  inPlan: [/OnFailure/],
  changes: [
    {
      file: "packages/job/src/end-state.ts",
      find: "return limit === 0 ? restarts > 0 : restarts >= limit;",
      replace: "return false;",
    },
  ],
};

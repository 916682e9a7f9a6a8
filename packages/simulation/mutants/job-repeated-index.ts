import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-repeated-index",
  entry: "#19",
  issue: "kubernetes/kubernetes#99865",
  sentence:
    "An indexed Job counts the pods that have succeeded, not their indexes: two of one index stand for another that never ran.",
  inPlan: [/"Indexed"/],
  changes: [
    {
      file: "packages/job/src/plan-job.ts",
      find: "const succeeded = indexes === undefined ? observed.succeeded : countIndexes(indexes.succeeded);",
      replace: "const { succeeded } = observed;",
    },
  ],
};

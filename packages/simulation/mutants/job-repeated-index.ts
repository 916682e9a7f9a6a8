import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-repeated-index",
  entry: "#19",
  issue: "kubernetes/kubernetes#99865",
  sentence:
    "An Indexed Job counts succeeded pods instead of indexes: two pods of one index replace an index that never ran.",
  inPlan: [/"Indexed"/],
  changes: [
    {
      file: "packages/job/src/plan-job.ts",
      find: "const succeeded = indexes === undefined ? observed.succeeded : countIndexes(indexes.succeeded);",
      replace: "const { succeeded } = observed;",
    },
  ],
};

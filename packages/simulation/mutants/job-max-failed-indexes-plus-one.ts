import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-max-failed-indexes-plus-one",
  entry: "own",
  sentence: "A Job fails only when two more of its indexes have failed than `maxFailedIndexes` says.",
  inPlan: [/maxFailedIndexes/],
  changes: [
    {
      file: "packages/job/src/end-state.ts",
      find: "failed > maxFailedIndexes)",
      replace: "failed > maxFailedIndexes + 1)",
    },
  ],
};

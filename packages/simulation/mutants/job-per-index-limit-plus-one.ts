import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-per-index-limit-plus-one",
  entry: "own",
  sentence: "An index is retried one time more than `backoffLimitPerIndex` permits.",
  inPlan: [/backoffLimitPerIndex/],
  changes: [
    {
      file: "packages/job/src/observed-indexes.ts",
      find: "indexFailureCountsOf(pod).failures >= limit",
      replace: "indexFailureCountsOf(pod).failures > limit",
    },
  ],
};

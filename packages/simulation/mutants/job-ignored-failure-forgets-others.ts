import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-ignored-failure-forgets-others",
  entry: "own",
  sentence: "An index that fails with a failure that the policy ignores is retried as if it had not failed before.",
  inPlan: [/"Ignore"/, /backoffLimitPerIndex/],
  changes: [
    {
      file: "packages/job/src/index-failure-counts.ts",
      find: "{ failures, ignored: ignored + 1 };",
      replace: "{ failures: 0, ignored: ignored + 1 };",
    },
  ],
};

import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-success-keeps-older-failures",
  entry: "own",
  sentence: "Failures that are observed together with a later success still delay the next pod.",
  changes: [
    {
      file: "packages/job/src/backoff.ts",
      find: "failed.filter((pod) => podFinishTimeMs(pod) > lastSuccessMs);",
      replace: "failed;",
    },
  ],
};

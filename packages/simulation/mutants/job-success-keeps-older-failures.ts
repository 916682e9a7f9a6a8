import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-success-keeps-older-failures",
  entry: "own",
  sentence: "Failures that are seen together with a success, and are older, delay the next pod nevertheless.",
  changes: [
    {
      file: "packages/job/src/backoff.ts",
      find: "failed.filter((pod) => podFinishTimeMs(pod) > lastSuccessMs);",
      replace: "failed;",
    },
  ],
};

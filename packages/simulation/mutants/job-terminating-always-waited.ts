import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-terminating-always-waited",
  entry: "own",
  sentence: "Terminating pods are waited for whatever `podReplacementPolicy` says.",
  changes: [
    {
      file: "packages/job/src/plan-pods.ts",
      find: "const terminating = replacesOnlyFailedPods(job) ? observed.terminating.length : 0;",
      replace: "const terminating = observed.terminating.length;",
    },
  ],
};

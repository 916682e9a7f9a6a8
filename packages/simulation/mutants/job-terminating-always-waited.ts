import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-terminating-always-waited",
  entry: "own",
  sentence: "Terminating pods delay replacements regardless of `podReplacementPolicy`.",
  changes: [
    {
      file: "packages/job/src/plan-pods.ts",
      find: "const terminating = replacesOnlyFailedPods(job) ? observed.terminating.length : 0;",
      replace: "const terminating = observed.terminating.length;",
    },
  ],
};

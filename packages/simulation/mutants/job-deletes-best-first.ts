import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-deletes-best-first",
  entry: "own",
  sentence: "A smaller parallelism deletes the pods with the highest rank first.",
  inPlan: [/parallelism/],
  changes: [
    {
      file: "packages/job/src/pods-to-delete.ts",
      find: "return atLeast <= 0 ? [] : rank(active).slice(0, atLeast);",
      replace: "return atLeast <= 0 ? [] : rank(active).slice(-atLeast);",
    },
  ],
};

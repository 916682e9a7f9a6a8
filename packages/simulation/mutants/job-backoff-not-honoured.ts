import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-backoff-not-honoured",
  entry: "#15",
  issue: "kubernetes/kubernetes#114391",
  sentence: "A sync without a new failure forgets the earlier ones, so that failed pods are replaced immediately.",
  changes: [
    {
      file: "packages/job/src/backoff.ts",
      find: "if (succeeded.length === 0 && failed.length === 0) return record;",
      replace: "if (succeeded.length === 0 && failed.length === 0) return NO_BACKOFF;",
    },
  ],
};

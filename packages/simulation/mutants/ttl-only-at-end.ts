import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "ttl-only-at-end",
  entry: "own",
  sentence: "A TTL that is set or shortened after the end of a Job is not noticed.",
  inPlan: [/ttlSecondsAfterFinished/],
  changes: [
    {
      file: "packages/ttl-after-finished/src/ttl-after-finished-controller.ts",
      find: "onUpdate: (_old, job) => enqueue(job)",
      replace: "onUpdate: (old, job) => {\n      if (!needsCleanup(old)) enqueue(job);\n    }",
    },
  ],
};

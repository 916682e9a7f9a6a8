import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "watch-half-open",
  entry: "E8",
  sentence: "A watch that is silent, and not closed, is never timed out: the cache does not change any more.",
  inPlan: [/watchSilent/],
  changes: [
    {
      file: "packages/informer/src/watch-stream.ts",
      find: "new Deadline(clock, signal, options.timeoutSeconds * 1000 + GRACE_MS)",
      replace: "new Deadline(clock, signal, Number.MAX_SAFE_INTEGER)",
    },
  ],
};

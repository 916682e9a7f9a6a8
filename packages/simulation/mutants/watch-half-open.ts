import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "watch-half-open",
  entry: "E8",
  sentence: "A watch that says nothing any more, and is not closed, is waited for for ever: the cache stands still.",
  inPlan: [/watchSilent/],
  changes: [
    {
      file: "packages/informer/src/watch-stream.ts",
      find: "new Deadline(clock, signal, options.timeoutSeconds * 1000 + GRACE_MS)",
      replace: "new Deadline(clock, signal, Number.MAX_SAFE_INTEGER)",
    },
  ],
};

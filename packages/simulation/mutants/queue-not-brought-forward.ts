import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "queue-not-brought-forward",
  entry: "own",
  sentence: "A delay stays as it is when a shorter one is asked for.",
  changes: [
    {
      file: "packages/workqueue/src/delaying-queue.ts",
      find: "} else if (readyAtMs < waiting.rank) {",
      replace: "} else if (readyAtMs < waiting.rank && waiting.rank < 0) {",
    },
  ],
};

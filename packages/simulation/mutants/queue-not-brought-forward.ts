import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "queue-not-brought-forward",
  entry: "own",
  sentence: "A delayed key keeps its delay when a shorter one is requested.",
  changes: [
    {
      file: "packages/workqueue/src/delaying-queue.ts",
      find: "} else if (readyAtMs < waiting.rank) {",
      replace: "} else if (readyAtMs < waiting.rank && waiting.rank < 0) {",
    },
  ],
};

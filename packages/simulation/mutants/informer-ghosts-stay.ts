import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "informer-ghosts-stay",
  entry: "E7",
  issue: "kubernetes/kubernetes#115658",
  sentence: "Objects that were deleted while the watch was interrupted stay in the cache.",
  inPlan: [/watchCut|watchSilent|apiServer|staleList/],
  changes: [
    {
      file: "packages/informer/src/store.ts",
      find: `    this.#entries = after;
`,
      replace: `    for (const entry of before.values()) if (!after.has(entry.key)) after.set(entry.key, entry);
    this.#entries = after;
`,
    },
  ],
};

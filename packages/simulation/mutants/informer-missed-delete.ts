import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "informer-missed-delete",
  entry: "E7",
  issue: "kubernetes/kubernetes#115658",
  sentence: "Handlers do not receive the deletion of objects that were deleted while the watch was interrupted.",
  inPlan: [/watchCut|watchSilent|apiServer|staleList/],
  changes: [
    {
      file: "packages/informer/src/store.ts",
      find: "if (!after.has(key)) vanished.push({ key, object });",
      replace: "if (!after.has(key)) continue;",
    },
  ],
};

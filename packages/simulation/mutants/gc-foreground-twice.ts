import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "gc-foreground-twice",
  entry: "E4",
  issue: "kubernetes/kubernetes#77081",
  sentence:
    "A foreground deletion that is asked for while the object is being deleted already is not noticed: its finalizer stays.",
  changes: [
    {
      file: "packages/garbage-collector/src/dependency-graph.ts",
      find: "return isSo(metadata) && !(old !== undefined && isSo(old));",
      replace: "return isSo(metadata) && !(old !== undefined && isBeingDeleted(old));",
    },
  ],
};

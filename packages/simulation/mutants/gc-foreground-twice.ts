import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "gc-foreground-twice",
  entry: "E4",
  issue: "kubernetes/kubernetes#77081",
  sentence:
    "A foreground deletion that is requested while the object is being deleted already is not noticed: its finalizer stays.",
  changes: [
    {
      file: "packages/garbage-collector/src/dependency-graph.ts",
      find: "return isDeletedWithFinalizer(metadata) && !(old !== undefined && isDeletedWithFinalizer(old));",
      replace: "return isDeletedWithFinalizer(metadata) && !(old !== undefined && isBeingDeleted(old));",
    },
  ],
};

import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "gc-foreground-cycle",
  entry: "E4",
  issue: "kubernetes/kubernetes#32628",
  sentence: "Objects that own each other wait for each other when they are deleted in the foreground.",
  inPlan: [/"kind":"ConfigMap","name":"/],
  changes: [
    {
      file: "packages/garbage-collector/src/item-plan.ts",
      find: "if (deletingDependents) mayBeCycle = true;",
      replace: "",
    },
  ],
};

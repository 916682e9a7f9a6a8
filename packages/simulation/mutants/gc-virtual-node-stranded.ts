import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "gc-virtual-node-stranded",
  entry: "E2",
  issue: "kubernetes/kubernetes#56121",
  sentence:
    "An owner that was only referred to, and was found when it was looked for, is not looked for again: if it goes before it is seen, its dependents stay.",
  inPlan: [/"watchCut":\{("controller":"garbage-collector-controller"|"compacted":true)|staleList/],
  changes: [
    {
      file: "packages/garbage-collector/src/garbage-collector.ts",
      find: "if (node.virtual && this.#isInGraph(node)) return this.#retry(key);",
      replace: "",
    },
  ],
};

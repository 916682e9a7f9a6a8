import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "gc-virtual-node-stranded",
  entry: "E2",
  issue: "kubernetes/kubernetes#56121",
  sentence:
    "An owner that is known only from references, and was found by a lookup, is not looked up again: if it is deleted before it is observed, its dependents stay.",
  inPlan: [/"watchCut":\{("controller":"garbage-collector-controller"|"compacted":true)|staleList/],
  changes: [
    {
      file: "packages/garbage-collector/src/garbage-collector.ts",
      find: "if (node.virtual && this.#isInGraph(node)) return this.#retry(key);",
      replace: "",
    },
  ],
};

import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-stale-pod-counted-twice",
  entry: "#4",
  issue: "kubernetes/kubernetes#105200",
  sentence: "A pod that was counted, and whose removed finalizer is still in the cache, is counted again.",
  needs: { consistencyGate: "off" },
  inPlan: [/"consistencyGate":false/],
  changes: [
    {
      file: "packages/expectations/src/finalizer-expectations.ts",
      find: "return expected === undefined ? this.#none : new Set(expected);",
      replace: "return this.#none;",
    },
  ],
};

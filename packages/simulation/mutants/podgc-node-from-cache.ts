import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "podgc-node-from-cache",
  entry: "E5",
  issue: "kubernetes/kubernetes#82365",
  sentence:
    "A node that is missing in the cache counts as deleted, without a request to the API server: its pods are marked Failed and deleted while they run.",
  inPlan: [/"apply":\{"apiVersion":"v1","kind":"Node"/],
  changes: [
    {
      file: "packages/podgc/src/pod-gc-controller.ts",
      find: `      await this.#nodeReader.get(name, { signal });
      return false;`,
      replace: "      return true;",
    },
  ],
};

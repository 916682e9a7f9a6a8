import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "podgc-no-quarantine",
  entry: "E5",
  issue: "kubernetes/kubernetes#82365",
  sentence: "As podgc-node-from-cache, and without the quarantine: at the next pass already.",
  inPlan: [/"apply":\{"apiVersion":"v1","kind":"Node"/],
  changes: [
    {
      file: "packages/podgc/src/pod-gc-controller.ts",
      find: `      await this.#nodeReader.get(name, { signal });
      return false;`,
      replace: "      return true;",
    },
    {
      file: "packages/podgc/src/pod-gc-controller.ts",
      find: "this.#quarantine = new NodeQuarantine(quarantineMs);",
      replace: "this.#quarantine = new NodeQuarantine(0);",
    },
  ],
};

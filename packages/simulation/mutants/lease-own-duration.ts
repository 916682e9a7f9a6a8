import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "lease-own-duration",
  entry: "E9",
  issue: "kubernetes/kubernetes#114872",
  sentence: "A candidate uses its own lease duration instead of the leader's, and takes over too early.",
  inPlan: [/controllerManagers/],
  changes: [
    {
      file: "packages/controller/src/leader-elector.ts",
      find: "return this.#observedMs + this.#observed.leaseDurationSeconds * 1000;",
      replace: "return this.#observedMs + this.#leaseDurationMs;",
    },
  ],
};

import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "lease-renewals-deferred-too-long",
  entry: "own",
  sentence: "A leader defers its renewals, and continues to when another candidate observes and takes over its Lease.",
  inPlan: [/controllerManagers/],
  changes: [
    {
      file: "packages/apiserver/src/lease-renewals.ts",
      find: "if (this.#deferrals.size === 1) this.#start();",
      replace: "",
    },
  ],
};

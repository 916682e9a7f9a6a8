import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "lease-release-invalid",
  entry: "own",
  issue: "kubernetes/kubernetes#80954",
  sentence: "A stopping leader releases the Lease with an invalid write: there is no leader until the Lease expires.",
  inPlan: [/controllerManagers/],
  changes: [
    {
      file: "packages/controller/src/leader-elector.ts",
      find: "leaseDurationSeconds: 1,",
      replace: "leaseDurationSeconds: 0,",
    },
  ],
};

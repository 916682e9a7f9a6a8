import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "lease-release-invalid",
  entry: "own",
  issue: "kubernetes/kubernetes#80954",
  sentence: "Who stops gives the lease away in a way that is refused: nobody leads until it has run out.",
  inPlan: [/controllerManagers/],
  changes: [
    {
      file: "packages/controller/src/leader-elector.ts",
      find: "leaseDurationSeconds: 1,",
      replace: "leaseDurationSeconds: 0,",
    },
  ],
};

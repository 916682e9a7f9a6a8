import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "lease-release-foreign",
  entry: "E9b",
  sentence: "Who stops gives the lease away even if somebody else has taken it meanwhile: a third begins beside them.",
  inPlan: [/controllerManagers/],
  changes: [
    {
      file: "packages/controller/src/leader-elector.ts",
      find: "if (found.holderIdentity !== this.identity) return;",
      replace: "",
    },
  ],
};

import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "lease-release-foreign",
  entry: "E9b",
  sentence: "A stopping leader releases the Lease even if another candidate has acquired it: a third starts beside it.",
  inPlan: [/controllerManagers/],
  changes: [
    {
      file: "packages/controller/src/leader-elector.ts",
      find: "if (found.holderIdentity !== this.identity) return;",
      replace: "",
    },
  ],
};

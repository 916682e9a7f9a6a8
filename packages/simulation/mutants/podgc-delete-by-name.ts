import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "podgc-delete-by-name",
  entry: "1.3",
  sentence:
    "PodGC deletes pods by name without a UID precondition, and may delete another pod that has taken the name.",
  inPlan: [/"apply":\{"apiVersion":"v1","kind":"Pod"/],
  changes: [
    {
      file: "packages/podgc/src/force-delete.ts",
      find: "gracePeriodSeconds: 0, preconditions: { uid }, signal",
      replace: "gracePeriodSeconds: 0, signal",
    },
  ],
};

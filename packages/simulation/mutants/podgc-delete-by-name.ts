import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "podgc-delete-by-name",
  entry: "1.3",
  sentence: "PodGC deletes pods by name alone, and so another that has taken the name of one that was to go.",
  inPlan: [/"apply":\{"apiVersion":"v1","kind":"Pod"/],
  changes: [
    {
      file: "packages/podgc/src/force-delete.ts",
      find: "gracePeriodSeconds: 0, preconditions: { uid }, signal",
      replace: "gracePeriodSeconds: 0, signal",
    },
  ],
};

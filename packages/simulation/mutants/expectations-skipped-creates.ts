import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "expectations-skipped-creates",
  entry: "E10",
  issue: "kubernetes/kubernetes#77436",
  sentence:
    "Pods that were skipped because an earlier creation was refused stay in the expectations: the Job stalls for five minutes.",
  changes: [
    {
      file: "packages/job/src/apply-pod-plan.ts",
      find: "if (skipped > 0) expectations.lowerExpectations(key, skipped, 0);",
      replace: "",
    },
  ],
};

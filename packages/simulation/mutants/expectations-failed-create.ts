import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "expectations-failed-create",
  entry: "E10",
  issue: "kubernetes/kubernetes#77436",
  sentence: "A pod that could not be created stays in the expectations.",
  changes: [
    {
      file: "packages/job/src/apply-pod-plan.ts",
      find: `      expectations.creationObserved(key);
`,
      replace: "",
    },
  ],
};

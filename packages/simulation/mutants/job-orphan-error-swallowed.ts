import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-orphan-error-swallowed",
  entry: "#2",
  issue: "kubernetes/kubernetes#141346",
  sentence:
    "A pod found by the selector of a deleted Job, whose finalizer could not be removed, is forgotten, and stays forever.",
  inPlan: [/requestFails|apiServerDown/],
  changes: [
    { file: "packages/job/src/orphan-pods.ts", find: "if (refusal !== undefined) throw refusal;", replace: "" },
  ],
};

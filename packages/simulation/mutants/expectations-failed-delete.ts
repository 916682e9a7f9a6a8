import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "expectations-failed-delete",
  entry: "E10",
  issue: "kubernetes/kubernetes#77436",
  sentence: "A pod that could not be deleted stays in the expectations.",
  inPlan: [
    /requestFails|apiServer|controllerCrashes|controllerDown|"delete":\{"kind":"Pod"/,
    /"with":\{"spec":\{"parallelism"|"suspend":/,
  ],
  changes: [
    {
      file: "packages/job/src/apply-pod-plan.ts",
      find: `      expectations.deletionObserved(key);
`,
      replace: "",
    },
  ],
};

import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-failure-policy-running-container",
  entry: "#18",
  issue: "kubernetes/kubernetes#113852",
  sentence:
    "The exit code of a container that has not ended is read when the pod has failed: the sync throws, again and again.",
  inPlan: [/onExitCodes/],
  changes: [
    {
      file: "packages/job/src/pod-failure-policy.ts",
      find: "const exitCode = state?.terminated?.exitCode;",
      replace: "const exitCode = state!.terminated!.exitCode;",
    },
  ],
};

import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-failure-policy-missing-exit-code",
  entry: "#18",
  issue: "kubernetes/kubernetes#113852",
  sentence:
    "A container that has not ended matches an exit code rule with NotIn: the Job fails without a reason that the policy names.",
  inPlan: [/onExitCodes/],
  changes: [
    {
      file: "packages/job/src/pod-failure-policy.ts",
      find: "if (exitCode === undefined || exitCode === 0 || ",
      replace: "if (exitCode === 0 || ",
    },
    {
      file: "packages/job/src/pod-failure-policy.ts",
      find: "!values.includes(exitCode);",
      replace: "!values.includes(exitCode!);",
    },
    {
      file: "packages/job/src/pod-failure-policy.ts",
      find: "${status.state!.terminated!.exitCode}",
      replace: "${status.state?.terminated?.exitCode}",
    },
  ],
};

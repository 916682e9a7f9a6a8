import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-ignored-failures-not-delayed",
  entry: "#15",
  issue: "kubernetes/kubernetes#119378",
  sentence: "Pods whose failure the pod failure policy ignores are replaced without delay.",
  inPlan: [/"Ignore"/],
  changes: [
    {
      file: "packages/job/src/plan-job.ts",
      find: 'import { comparePodsByAge, completionIndexOf } from "./pod-state.js";',
      replace: `import { matchPodFailurePolicy } from "./pod-failure-policy.js";
import { comparePodsByAge, completionIndexOf } from "./pod-state.js";`,
    },
    {
      file: "packages/job/src/plan-job.ts",
      find: "nextBackoffRecord(before, newSuccesses(observed, indexes), observed.newlyFailed);",
      replace: `nextBackoffRecord(
    before,
    newSuccesses(observed, indexes),
    observed.newlyFailed.filter((pod) => matchPodFailurePolicy(job.spec?.podFailurePolicy, pod).counts),
  );`,
    },
  ],
};

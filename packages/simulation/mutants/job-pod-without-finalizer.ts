import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-pod-without-finalizer",
  entry: "3.1",
  issue: "kubernetes/kubernetes#28486",
  sentence: "Pods are created without the tracking finalizer: their results are never counted.",
  changes: [
    {
      file: "packages/job/src/pod-template.ts",
      find: "const tracked = finalizers.includes(JOB_TRACKING_FINALIZER) ? finalizers : [...finalizers, JOB_TRACKING_FINALIZER];",
      replace: "const tracked = finalizers;",
    },
  ],
};

import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-succeeded-then-failed",
  entry: "#10",
  issue: "kubernetes/kubernetes#125410",
  sentence:
    "A pod that is recorded as succeeded, and fails before its finalizer is removed, is recorded as failed too: the API server rejects every later status.",
  inPlan: [/"subresource":"status"/],
  changes: [
    {
      file: "packages/job/src/account-pods.ts",
      find: " && !recordedFailed.has(uid) && !recordedSucceeded.has(uid)) {",
      replace: " && !recordedFailed.has(uid)) {",
    },
  ],
};

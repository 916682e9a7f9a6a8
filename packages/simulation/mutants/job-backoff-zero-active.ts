import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-backoff-zero-active",
  entry: "#1",
  issue: "kubernetes/kubernetes#139428",
  sentence:
    "While a replacement waits for its back-off, the status reports no active pods, although others run: the API server rejects that as fewer than are ready.",
  changes: [
    {
      file: "packages/job/src/plan-pods.ts",
      find: "const reported = behaviours.activePodsDuringBackoff ? {} : { reportedActive: 0 };",
      replace: "const reported = { reportedActive: 0 };",
    },
  ],
};

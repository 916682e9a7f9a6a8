import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-resume-start-time",
  entry: "3.1",
  issue: "kubernetes/kubernetes#134521",
  sentence:
    "A suspended Job keeps its start time, and the API server rejects the new one of a resumed Job: the Job stalls.",
  inPlan: [/"suspend"/],
  changes: [
    {
      file: "packages/job/src/reconcile-status.ts",
      find: "const startTime = suspended ? (clearsStartTime ? undefined : draft.startTime) : formatTime(nowMs);",
      replace: "const startTime = suspended ? draft.startTime : formatTime(nowMs);",
    },
    {
      file: "packages/apiserver/src/kinds/job/status-validation.ts",
      find: "before.startTime !== status.startTime && !isResumed && ",
      replace: "before.startTime !== status.startTime && ",
    },
  ],
};

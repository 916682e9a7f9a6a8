import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-deadline-suspended",
  entry: "own",
  sentence: "The deadline of a Job keeps running while the Job is suspended.",
  inPlan: [/activeDeadlineSeconds/, /"suspend"/],
  changes: [
    {
      file: "packages/job/src/end-state.ts",
      find: "if (seconds == null || startMs === undefined || isSuspended(job)) return undefined;",
      replace: "if (seconds == null || startMs === undefined) return undefined;",
    },
    {
      file: "packages/job/src/reconcile-status.ts",
      find: "const startTime = suspended ? (clearsStartTime ? undefined : draft.startTime) : formatTime(nowMs);",
      replace: "const startTime = suspended ? draft.startTime : formatTime(nowMs);",
    },
  ],
};

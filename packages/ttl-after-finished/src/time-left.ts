import { type DeepReadonly, type Job, finishedCondition, keyOf, parseTime } from "@kubewright/api";

/** The state of a Job's TTL. */
export type TimeLeft =
  /** The Job is being deleted, has not finished, or has no TTL. */
  | { readonly type: "none" }
  | { readonly type: "pending"; readonly remainingMs: number; readonly finishedMs: number }
  /** The TTL expired at `expiredMs`, which can be the current time. */
  | { readonly type: "expired"; readonly expiredMs: number; readonly finishedMs: number };

/**
 * Returns the remaining TTL of a Job.
 *
 * If the finish time is in the future, because of clock skew, the TTL begins at that time.
 *
 * @throws Error if the Job has no finish time.
 * @see kubernetes v1.36 pkg/controller/ttlafterfinished/ttlafterfinished_controller.go processTTL, timeLeft
 */
export function timeLeft(job: DeepReadonly<Job>, nowMs: number): TimeLeft {
  const ttlSeconds = job.spec?.ttlSecondsAfterFinished;
  if (job.metadata.deletionTimestamp || ttlSeconds == null) return { type: "none" };
  // Uses the condition's time. Failed Jobs have no `completionTime`.
  const end = finishedCondition(job);
  if (end === undefined) return { type: "none" };
  const finishedMs = parseTime(end.lastTransitionTime);
  if (finishedMs === undefined) throw new Error(`unable to find the time when the Job ${keyOf(job)} finished`);
  const expiredMs = finishedMs + ttlSeconds * 1000;
  const remainingMs = expiredMs - nowMs;
  return remainingMs > 0 ? { type: "pending", remainingMs, finishedMs } : { type: "expired", expiredMs, finishedMs };
}

/** Whether the Job has finished and has a TTL. */
export function needsCleanup(job: DeepReadonly<Job>): boolean {
  return job.spec?.ttlSecondsAfterFinished != null && finishedCondition(job) !== undefined;
}

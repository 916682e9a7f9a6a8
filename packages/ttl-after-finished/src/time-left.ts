import { type DeepReadonly, type Job, finishedCondition, keyOf, parseTime } from "@kubewright/api";

/** What becomes of a Job whose clean-up is looked at. */
export type TimeLeft =
  /** It is being deleted, or has not finished, or has no time to live. */
  | { readonly type: "none" }
  | { readonly type: "pending"; readonly remainingMs: number; readonly finishedMs: number }
  /** Its time was over at `expiredMs`, or is right now. */
  | { readonly type: "expired"; readonly expiredMs: number; readonly finishedMs: number };

/**
 * How long a finished Job may still live.
 *
 * A finish in the future, by clocks that differ, is taken as it is: the time to live then begins when it has come.
 *
 * @throws Error when the Job does not say when it finished.
 * @see kubernetes v1.36 pkg/controller/ttlafterfinished/ttlafterfinished_controller.go processTTL, timeLeft
 */
export function timeLeft(job: DeepReadonly<Job>, nowMs: number): TimeLeft {
  const ttlSeconds = job.spec?.ttlSecondsAfterFinished;
  if (job.metadata.deletionTimestamp || ttlSeconds == null) return { type: "none" };
  // Its time counts, not `completionTime`, which failed Jobs lack.
  const end = finishedCondition(job);
  if (end === undefined) return { type: "none" };
  const finishedMs = parseTime(end.lastTransitionTime);
  if (finishedMs === undefined) throw new Error(`unable to find the time when the Job ${keyOf(job)} finished`);
  const expiredMs = finishedMs + ttlSeconds * 1000;
  const remainingMs = expiredMs - nowMs;
  return remainingMs > 0 ? { type: "pending", remainingMs, finishedMs } : { type: "expired", expiredMs, finishedMs };
}

/** Whether the Job has finished and is to be cleaned up some time. */
export function needsCleanup(job: DeepReadonly<Job>): boolean {
  return job.spec?.ttlSecondsAfterFinished != null && finishedCondition(job) !== undefined;
}

import { type DeepReadonly, type Job, compareTimes, finishedCondition } from "@kubewright/api";

export interface HistoryLimits {
  readonly successfulJobsHistoryLimit?: number | undefined;
  readonly failedJobsHistoryLimit?: number | undefined;
}

/**
 * Returns the finished Jobs over the history limits in deletion order: successful ones first, each kind by start time.
 * An absent limit keeps all.
 *
 * @see kubernetes v1.36 pkg/controller/cronjob/cronjob_controllerv2.go cleanupFinishedJobs
 */
export function jobsOverHistoryLimit(
  jobs: readonly DeepReadonly<Job>[],
  { successfulJobsHistoryLimit, failedJobsHistoryLimit }: HistoryLimits,
): readonly DeepReadonly<Job>[] {
  const successful = oldest(jobs, "Complete", successfulJobsHistoryLimit);
  const failed = oldest(jobs, "Failed", failedJobsHistoryLimit);
  return failed.length === 0 ? successful : [...successful, ...failed];
}

const NONE: readonly never[] = [];

type End = "Complete" | "Failed";

function oldest(
  jobs: readonly DeepReadonly<Job>[],
  end: End,
  limit = Number.POSITIVE_INFINITY,
): readonly DeepReadonly<Job>[] {
  let count = 0;
  for (const job of jobs) if (finishedCondition(job)?.type === end) count++;
  return count <= limit ? NONE : inOrder(jobs, end).slice(0, count - limit);
}

function inOrder(jobs: readonly DeepReadonly<Job>[], end: End): DeepReadonly<Job>[] {
  return jobs.filter((job) => finishedCondition(job)?.type === end).sort(compareByStart);
}

/** Compares by start time, then by name. A Job without start time counts as the newest. */
function compareByStart(a: DeepReadonly<Job>, b: DeepReadonly<Job>): number {
  const byStart = compareTimes(a.status?.startTime, b.status?.startTime);
  if (byStart !== 0) return byStart;
  const nameA = a.metadata.name ?? "";
  const nameB = b.metadata.name ?? "";
  return nameA < nameB ? -1 : nameA > nameB ? 1 : 0;
}

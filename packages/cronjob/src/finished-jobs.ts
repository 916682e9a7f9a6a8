import { type DeepReadonly, type Job, compareTimes, finishedCondition } from "@kubewright/api";

export interface HistoryLimits {
  readonly successfulJobsHistoryLimit?: number | undefined;
  readonly failedJobsHistoryLimit?: number | undefined;
}

/**
 * The finished Jobs over the history limits, in the order they are to be deleted: successful ones first, each kind
 * oldest start first. An absent limit keeps all.
 *
 * @see kubernetes v1.36 pkg/controller/cronjob/cronjob_controllerv2.go cleanupFinishedJobs
 */
export function jobsOverHistoryLimit(
  jobs: readonly DeepReadonly<Job>[],
  { successfulJobsHistoryLimit, failedJobsHistoryLimit }: HistoryLimits,
): DeepReadonly<Job>[] {
  if (successfulJobsHistoryLimit === undefined && failedJobsHistoryLimit === undefined) return [];
  const successful: DeepReadonly<Job>[] = [];
  const failed: DeepReadonly<Job>[] = [];
  for (const job of jobs) {
    const condition = finishedCondition(job);
    if (condition !== undefined) (condition.type === "Complete" ? successful : failed).push(job);
  }
  return [...oldest(successful, successfulJobsHistoryLimit), ...oldest(failed, failedJobsHistoryLimit)];
}

function oldest(jobs: DeepReadonly<Job>[], limit: number | undefined): DeepReadonly<Job>[] {
  if (limit === undefined || jobs.length <= limit) return [];
  return jobs.sort(compareByStart).slice(0, jobs.length - limit);
}

/** By start time; a Job that has not started counts as the newest; equal ones by name. */
function compareByStart(a: DeepReadonly<Job>, b: DeepReadonly<Job>): number {
  const byStart = compareTimes(a.status?.startTime, b.status?.startTime);
  if (byStart !== 0) return byStart;
  const nameA = a.metadata.name ?? "";
  const nameB = b.metadata.name ?? "";
  return nameA < nameB ? -1 : nameA > nameB ? 1 : 0;
}

import type { DeepReadonly, Job, JobCondition } from "@kubewright/api";

/** The first condition that says how the Job ended: `Complete` or `Failed` with status `True`. */
export function finishedCondition(job: DeepReadonly<Job>): DeepReadonly<JobCondition> | undefined {
  const conditions = job.status?.conditions;
  if (conditions === undefined) return undefined;
  for (const condition of conditions) {
    const { type, status } = condition;
    if ((type === "Complete" || type === "Failed") && status === "True") return condition;
  }
  return undefined;
}

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

const LATER_THAN_ANY = "~";

/** By start time; a Job that has not started counts as the newest; equal ones by name. */
function compareByStart(a: DeepReadonly<Job>, b: DeepReadonly<Job>): number {
  // Times of the API are UTC with whole seconds, and so compare as text.
  const startA = a.status?.startTime ?? LATER_THAN_ANY;
  const startB = b.status?.startTime ?? LATER_THAN_ANY;
  if (startA !== startB) return startA < startB ? -1 : 1;
  const nameA = a.metadata.name ?? "";
  const nameB = b.metadata.name ?? "";
  return nameA < nameB ? -1 : nameA > nameB ? 1 : 0;
}

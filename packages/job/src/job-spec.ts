import { type DeepReadonly, type Job, type JobSpec, JOB_CONTROLLER_NAME, type Pod } from "@kubewright/api";

/** A Job, or a Pod, from a cache or a response. Immutable. */
export type JobObject = DeepReadonly<Job>;
export type PodObject = DeepReadonly<Pod>;

/** The API server's default for `backoffLimit`. */
const DEFAULT_BACKOFF_LIMIT = 6;
/** The API server's default with `backoffLimitPerIndex`: no limit. */
const MAX_INT32 = 2 ** 31 - 1;

export function specOf(job: JobObject): DeepReadonly<JobSpec> {
  if (job.spec === undefined) throw new Error(`Job ${job.metadata.namespace}/${job.metadata.name} has no spec`);
  return job.spec;
}

/**
 * Returns the maximum number of active pods. This and the following functions apply the API server's defaults to unset
 * fields: pkg/apis/batch/v1 defaults.go.
 */
export function parallelismOf(job: JobObject): number {
  return job.spec?.parallelism ?? 1;
}

/**
 * Returns the required number of successful pods or indexes; `undefined` for a work queue, which sets only
 * `parallelism`.
 */
export function completionsOf({ spec }: JobObject): number | undefined {
  return spec?.completions ?? (spec?.parallelism == null ? 1 : undefined);
}

export function isIndexed(job: JobObject): boolean {
  return job.spec?.completionMode === "Indexed";
}

/** Returns the number of indexes of an indexed Job, which validation requires; 0 for other Jobs. */
export function indexCount(job: JobObject): number {
  return isIndexed(job) ? (completionsOf(job) ?? 0) : 0;
}

export function isSuspended(job: JobObject): boolean {
  return job.spec?.suspend === true;
}

export function isBeingDeleted(object: JobObject | PodObject): boolean {
  return object.metadata.deletionTimestamp != null;
}

/**
 * Returns whether `spec.managedBy` assigns the Job to another controller. This controller must not modify such a Job.
 *
 * @param ours - The `managedBy` value of this controller. Default: the built-in controller, which also handles Jobs
 * without `managedBy`.
 */
export function isManagedElsewhere(job: JobObject, ours?: string): boolean {
  const managedBy = job.spec?.managedBy;
  if (ours !== undefined) return managedBy !== ours;
  return managedBy != null && managedBy !== JOB_CONTROLLER_NAME;
}

export function backoffLimitOf({ spec }: JobObject): number {
  return spec?.backoffLimit ?? (spec?.backoffLimitPerIndex == null ? DEFAULT_BACKOFF_LIMIT : MAX_INT32);
}

/** Returns the limit of retries per index, if the Job has one; it requires an indexed Job. */
export function backoffLimitPerIndexOf(job: JobObject): number | undefined {
  return isIndexed(job) ? (job.spec?.backoffLimitPerIndex ?? undefined) : undefined;
}

/**
 * Returns whether a terminating pod counts against `parallelism` until it has ended: `podReplacementPolicy: Failed`,
 * which a `podFailurePolicy` implies.
 *
 * Upstream: job_controller.go onlyReplaceFailedPods.
 */
export function replacesOnlyFailedPods(job: JobObject): boolean {
  return job.spec?.podReplacementPolicy === "Failed" || job.spec?.podFailurePolicy != null;
}

import { type DeepReadonly, type Job, type JobSpec, JOB_CONTROLLER_NAME, type Pod } from "@kubewright/api";

/** A Job, or a Pod, as caches and responses hand it out: never written to. */
export type JobObject = DeepReadonly<Job>;
export type PodObject = DeepReadonly<Pod>;

/** What the API server defaults `backoffLimit` to. */
const DEFAULT_BACKOFF_LIMIT = 6;
/** The same with `backoffLimitPerIndex`: no limit. */
const MAX_INT32 = 2 ** 31 - 1;

export function specOf(job: JobObject): DeepReadonly<JobSpec> {
  if (job.spec === undefined) throw new Error(`Job ${job.metadata.namespace}/${job.metadata.name} has no spec`);
  return job.spec;
}

/** How many pods may be active. Here and below, what is unset is what the API server defaults it to: pkg/apis/batch/v1 defaults.go. */
export function parallelismOf(job: JobObject): number {
  return job.spec?.parallelism ?? 1;
}

/** How many pods, or indexes, have to succeed; `undefined` for a work queue, which has `parallelism` alone. */
export function completionsOf({ spec }: JobObject): number | undefined {
  return spec?.completions ?? (spec?.parallelism == null ? 1 : undefined);
}

export function isIndexed(job: JobObject): boolean {
  return job.spec?.completionMode === "Indexed";
}

/** An indexed Job's number of indexes, which validation requires; 0 otherwise. */
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
 * Whether `spec.managedBy` gives the Job to another controller: then nothing here may touch it.
 *
 * @param ours - The `managedBy` that this controller answers to. Default: it is the built-in one, to which Jobs without
 *   `managedBy` are left too.
 */
export function isManagedElsewhere(job: JobObject, ours?: string): boolean {
  const managedBy = job.spec?.managedBy;
  if (ours !== undefined) return managedBy !== ours;
  return managedBy != null && managedBy !== JOB_CONTROLLER_NAME;
}

export function backoffLimitOf({ spec }: JobObject): number {
  return spec?.backoffLimit ?? (spec?.backoffLimitPerIndex == null ? DEFAULT_BACKOFF_LIMIT : MAX_INT32);
}

/** The limit of retries per index, where the Job has one: it needs indexes. */
export function backoffLimitPerIndexOf(job: JobObject): number | undefined {
  return isIndexed(job) ? (job.spec?.backoffLimitPerIndex ?? undefined) : undefined;
}

/**
 * Whether a terminating pod still occupies its place until it has ended: `podReplacementPolicy: Failed`, which a
 * `podFailurePolicy` implies.
 *
 * Upstream: job_controller.go onlyReplaceFailedPods.
 */
export function replacesOnlyFailedPods(job: JobObject): boolean {
  return job.spec?.podReplacementPolicy === "Failed" || job.spec?.podFailurePolicy != null;
}

import {
  type DeepReadonly,
  type Job,
  type LabelMatcher,
  type ObjectKey,
  type OwnerReference,
  jobs,
  labelSelectorMatcher,
  objectKey,
} from "@kubewright/api";
import type { Lister } from "@kubewright/informer";

import type { JobObject, PodObject } from "./job-spec.js";

/**
 * Returns the key of the Job that a controllerRef refers to, if the cache contains the Job with that UID. The API group
 * of the reference is not compared.
 *
 * Upstream: job_controller.go resolveControllerRef.
 */
export function resolveJobKey(
  lister: Pick<Lister<Job>, "get">,
  namespace: string,
  reference: DeepReadonly<OwnerReference>,
): ObjectKey | undefined {
  if (reference.kind !== jobs.kind) return undefined;
  const key = objectKey({ namespace, name: reference.name });
  return lister.get(key)?.metadata.uid === reference.uid ? key : undefined;
}

/** Returns the Job that {@link resolveJobKey} finds. */
export function resolveJob(
  lister: Pick<Lister<Job>, "get">,
  namespace: string,
  reference: DeepReadonly<OwnerReference>,
): JobObject | undefined {
  const key = resolveJobKey(lister, namespace, reference);
  return key === undefined ? undefined : lister.get(key);
}

/**
 * Returns the Jobs in a pod's namespace whose selector matches the pod. A pod without labels matches none.
 *
 * Upstream: batch/v1 lister expansion GetPodJobs.
 */
export function matchingJobs(lister: Pick<Lister<Job>, "listNamespace">, pod: PodObject): JobObject[] {
  const { namespace = "", labels } = pod.metadata;
  if (labels === undefined || Object.keys(labels).length === 0) return [];
  return lister.listNamespace(namespace).filter((job) => selectorOf(job)?.(labels));
}

/**
 * Returns the Job's selector as a matcher; `undefined` for a missing or invalid selector. Validation rejects those, but
 * objects may be older than the validation.
 */
export function selectorOf(job: JobObject): LabelMatcher | undefined {
  if (job.spec?.selector === undefined) return undefined;
  try {
    return labelSelectorMatcher(job.spec.selector);
  } catch {
    return undefined;
  }
}

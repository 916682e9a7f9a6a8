import {
  CONTROLLER_UID_LABEL,
  type DeepReadonly,
  type Job,
  type LabelSelector,
  type Pod,
  apiVersionOf,
  getControllerOf,
  isJobFinished,
  jobs,
  keyOf,
  labelSelectorMatcher,
} from "@kubewright/api";
import { errorMessage, isNotFound } from "@kubewright/client";
import { type PodControl, aggregateErrors } from "@kubewright/controller";
import type { FinalizerExpectations } from "@kubewright/expectations";
import type { Lister } from "@kubewright/informer";

import { type HandlesJob, handlesPod } from "./handled-jobs.js";
import { type JobObject, type PodObject, isManagedElsewhere } from "./job-spec.js";
import { type OrphanKey, orphanTarget } from "./orphan-key.js";
import { hasTrackingFinalizer, uidOf } from "./pod-state.js";
import { resolveJob } from "./resolve-job.js";
import { removeTrackingFinalizer } from "./tracking-finalizer.js";

/**
 * Name of the index of pods with the tracking finalizer, by namespace and by the Job label. Each Job that ends queries
 * it.
 */
export const trackedPodsIndex = "jobTracking";

export function trackedPodsIndexValues({ metadata }: PodObject): readonly string[] {
  if (!hasTrackingFinalizer({ metadata })) return [];
  const namespace = metadata.namespace ?? "";
  const uid = metadata.labels?.[CONTROLLER_UID_LABEL];
  return uid === undefined ? [namespace] : [namespace, `${namespace}/${uid}`];
}

/** Returns the index value that finds all pods of a selector. It finds few others unless a user wrote the selector. */
export function trackedPodsIndexValue(namespace: string, selector: DeepReadonly<LabelSelector> | undefined): string {
  const uid = selector?.matchLabels?.[CONTROLLER_UID_LABEL];
  return uid === undefined ? namespace : `${namespace}/${uid}`;
}

export interface OrphanPodDeps {
  /** The Jobs that this controller handles. */
  readonly jobs: Pick<Lister<Job>, "get">;
  readonly pods: Pick<Lister<Pod, typeof trackedPodsIndex>, "get" | "byIndex">;
  readonly podControl: PodControl;
  /** Pods whose tracking finalizer a sync is removing. */
  readonly finalizers: Pick<FinalizerExpectations, "expectedUIDs">;
  /** Same as in `JobSyncDeps`. */
  readonly managedBy?: string | undefined;
  /** Same as in the controller's options. */
  readonly handles?: HandlesJob | undefined;
}

/**
 * Removes the tracking finalizer of pods that no sync will process again; otherwise they could never be deleted.
 *
 * @throws One error for all rejected requests, after all pods were tried; the key is retried. Upstream 1.36 drops pods
 * found by selector whose patch was rejected, which then may never be deleted; fixed there later. Upstream:
 * job_controller.go syncOrphanPod, orphanWorker; kubernetes/kubernetes#141329.
 */
export async function syncOrphanPods(key: OrphanKey, deps: OrphanPodDeps, signal: AbortSignal): Promise<void> {
  const target = orphanTarget(key);
  // Only the deletion event of a Job reveals which controller handled its pods. The built-in controller handles all
  // other pods.
  const isOrphan = orphanPredicate(deps, { withoutJob: target.type === "selector" || deps.managedBy === undefined });
  if (target.type === "pod") {
    const pod = deps.pods.get(target.key);
    if (pod !== undefined && isOrphan(pod)) await removeOrphanFinalizer(pod, deps, signal);
    return;
  }
  const matches = labelSelectorMatcher(target.selector);
  const refusals: Error[] = [];
  for (const found of deps.pods.byIndex(trackedPodsIndex, trackedPodsIndexValue(target.namespace, target.selector))) {
    if (!matches(found.metadata.labels)) continue;
    // Another Job may have adopted the pod during the previous patches. Upstream uses the pod as first found.
    const pod = deps.pods.get(keyOf(found));
    if (pod === undefined || !isOrphan(pod)) continue;
    try {
      await removeOrphanFinalizer(pod, deps, signal);
    } catch (error) {
      signal.throwIfAborted();
      refusals.push(new Error(`Pod ${keyOf(pod)}: ${errorMessage(error)}`, { cause: error }));
    }
  }
  const refusal = aggregateErrors(refusals);
  if (refusal !== undefined) throw refusal;
}

async function removeOrphanFinalizer(
  pod: PodObject,
  { podControl }: OrphanPodDeps,
  signal: AbortSignal,
): Promise<void> {
  try {
    await removeTrackingFinalizer(podControl, pod, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/**
 * Returns a predicate for pods that will never be counted: the pod has no owner, or its Job is gone, replaced or
 * finished. Upstream also patches pods whose finalizer the last sync of a finished Job has removed, while the cache
 * does not show the removal.
 */
function orphanPredicate(
  { jobs: lister, finalizers, managedBy, handles }: OrphanPodDeps,
  { withoutJob }: { withoutJob: boolean },
): (pod: PodObject) => boolean {
  const finalizerRemovedUIDs = new Map<JobObject, ReadonlySet<string>>();
  const isFinalizerRemoved = (pod: PodObject, job: JobObject): boolean => {
    let uids = finalizerRemovedUIDs.get(job);
    if (uids === undefined) finalizerRemovedUIDs.set(job, (uids = finalizers.expectedUIDs(keyOf(job))));
    return uids.has(uidOf(pod));
  };
  return (pod) => {
    if (!handlesPod(pod, handles)) return false;
    const reference = getControllerOf(pod);
    if (reference === undefined) return withoutJob;
    if (reference.kind !== jobs.kind || reference.apiVersion !== apiVersionOf(jobs)) return false;
    const job = resolveJob(lister, pod.metadata.namespace ?? "", reference);
    if (job === undefined) return withoutJob;
    return !isManagedElsewhere(job, managedBy) && isJobFinished(job) && !isFinalizerRemoved(pod, job);
  };
}

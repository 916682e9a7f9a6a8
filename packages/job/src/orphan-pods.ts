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
 * Name of the index that finds the pods of a namespace that have the tracking finalizer, all of them or those labelled as one
 * Job's: each Job that ends asks for some.
 */
export const trackedPodsIndex = "jobTracking";

export function trackedPodsIndexValues({ metadata }: PodObject): readonly string[] {
  if (!hasTrackingFinalizer({ metadata })) return [];
  const namespace = metadata.namespace ?? "";
  const uid = metadata.labels?.[CONTROLLER_UID_LABEL];
  return uid === undefined ? [namespace] : [namespace, `${namespace}/${uid}`];
}

/** The value of that index that finds all pods a selector matches, and few others unless somebody else has written it. */
export function trackedPodsIndexValue(namespace: string, selector: DeepReadonly<LabelSelector> | undefined): string {
  const uid = selector?.matchLabels?.[CONTROLLER_UID_LABEL];
  return uid === undefined ? namespace : `${namespace}/${uid}`;
}

export interface OrphanPodDeps {
  /** Those that are handled here. */
  readonly jobs: Pick<Lister<Job>, "get">;
  readonly pods: Pick<Lister<Pod, typeof trackedPodsIndex>, "get" | "byIndex">;
  readonly podControl: PodControl;
  /** Pods losing their tracking finalizer to a sync. */
  readonly finalizers: Pick<FinalizerExpectations, "expectedUIDs">;
  /** As in the syncs' deps. */
  readonly managedBy?: string | undefined;
  /** As in the controller's options. */
  readonly handles?: HandlesJob | undefined;
}

/**
 * Frees pods that no sync will look at again, of the tracking finalizer: else they could never be deleted.
 *
 * @throws what was refused, to be tried again, once all pods were tried. Upstream 1.36 forgets pods found by selector
 *   whose patch was refused, which may never be deleted then; fixed there later.
 * Upstream: job_controller.go syncOrphanPod, orphanWorker; kubernetes/kubernetes#141329.
 */
export async function syncOrphanPods(key: OrphanKey, deps: OrphanPodDeps, signal: AbortSignal): Promise<void> {
  const target = orphanTarget(key);
  // Whose a pod was, whose Job is gone, only the Job's deletion tells. The built-in controller frees all others.
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
    // Another Job may have taken it over while those before it were freed. Upstream goes by what it has found.
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
 * Tells whether nobody will ever account for a pod: it has no owner, or its Job is gone, replaced or finished. Upstream
 * also patches those that the last sync of a finished Job has freed, where the cache does not show that yet.
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

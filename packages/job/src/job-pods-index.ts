import { CONTROLLER_UID_LABEL, type Pod, getControllerOf, jobs } from "@kubewright/api";
import { podControllerIndexKey } from "@kubewright/controller";
import type { Lister } from "@kubewright/informer";

import type { JobObject, PodObject } from "./job-spec.js";
import { hasTrackingFinalizer, isPodSucceeded } from "./pod-state.js";

/** Name of the index that finds the pods a sync of a Job has to look at. */
export const jobPodsIndex = "jobPods";

/**
 * By controller, or by namespace for a pod without one. Succeeded pods that were accounted for are left out: no sync has
 * anything to do about them, and a Job of 100,000 completions would look at each a thousand times. They are left out by
 * the label that the API server has Jobs select by, so that one that has lost it is still let go.
 */
export function jobPodsIndexValues(pod: PodObject): readonly string[] {
  const namespace = pod.metadata.namespace ?? "";
  const controller = getControllerOf(pod);
  if (controller === undefined) return [namespace];
  if (controller.kind !== jobs.kind) return [];
  const isDone = isPodSucceeded(pod) && !hasTrackingFinalizer(pod);
  if (isDone && pod.metadata.labels?.[CONTROLLER_UID_LABEL] === controller.uid) return [];
  return [podControllerIndexKey(namespace, controller.kind, controller.name, controller.uid)];
}

type JobPods = Pick<Lister<Pod, typeof jobPodsIndex>, "byIndex">;

/** What the Job controls. */
export function jobPodsOf(pods: JobPods, { metadata }: JobObject): readonly PodObject[] {
  const { namespace, name, uid } = metadata;
  if (!namespace || !name || !uid)
    throw new Error("the Job needs a namespace, a name and a uid for pods to be its own");
  return pods.byIndex(jobPodsIndex, podControllerIndexKey(namespace, jobs.kind, name, uid));
}

/** The candidates for claiming: what the Job controls, and what nobody controls in its namespace. */
export function jobPodCandidates(pods: JobPods, job: JobObject): readonly PodObject[] {
  const owned = jobPodsOf(pods, job);
  const orphans = pods.byIndex(jobPodsIndex, job.metadata.namespace ?? "");
  return orphans.length === 0 ? owned : [...owned, ...orphans];
}

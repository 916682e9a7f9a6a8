import { CONTROLLER_UID_LABEL, type Pod, getControllerOf, jobs } from "@kubewright/api";
import { podControllerIndexKey } from "@kubewright/controller";
import type { Lister } from "@kubewright/informer";

import type { JobObject, PodObject } from "./job-spec.js";
import { hasTrackingFinalizer, isPodSucceeded } from "./pod-state.js";

/** Name of the index that finds the pods for a sync of a Job. */
export const jobPodsIndex = "jobPods";

/**
 * Indexes pods by controller, or by namespace for a pod without one. It omits succeeded pods that were already counted:
 * no sync needs them, and a Job with 100,000 completions would read each of them a thousand times. The omission
 * requires the label that the API server adds to a Job's selector, so that a pod that has lost it is still released.
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

/** Returns the pods that the Job controls. */
export function jobPodsOf(pods: JobPods, { metadata }: JobObject): readonly PodObject[] {
  const { namespace, name, uid } = metadata;
  if (!namespace || !name || !uid)
    throw new Error("the Job needs a namespace, a name and a uid for pods to be its own");
  return pods.byIndex(jobPodsIndex, podControllerIndexKey(namespace, jobs.kind, name, uid));
}

/** Returns the candidates for claiming: the pods that the Job controls, and the orphans of its namespace. */
export function jobPodCandidates(pods: JobPods, job: JobObject): readonly PodObject[] {
  const owned = jobPodsOf(pods, job);
  const orphans = pods.byIndex(jobPodsIndex, job.metadata.namespace ?? "");
  return orphans.length === 0 ? owned : [...owned, ...orphans];
}

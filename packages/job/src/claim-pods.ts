import { type Job, JOB_TRACKING_FINALIZER, type LabelMatcher, type Pod, getControllerOf, jobs } from "@kubewright/api";
import type { Reader } from "@kubewright/client";
import { ControllerRefManager, type PodControl, recheckDeletionTimestamp } from "@kubewright/controller";
import type { Lister } from "@kubewright/informer";

import { jobPodCandidates, type jobPodsIndex } from "./job-pods-index.js";
import { type JobObject, type PodObject, isBeingDeleted } from "./job-spec.js";
import { uidOf } from "./pod-state.js";

export interface ClaimDeps {
  /** Requires the {@link jobPodsIndex}. */
  readonly pods: Pick<Lister<Pod, typeof jobPodsIndex>, "byIndex">;
  readonly jobClient: Pick<Reader<Job>, "definition" | "get">;
  readonly podControl: PodControl;
}

/**
 * Returns the result of {@link claimPods} for the usual case, in which no pod is adopted or released. It sends no
 * request.
 *
 * @returns `undefined` when a pod has to be adopted or released.
 */
export function podsToKeep(
  job: JobObject,
  selector: LabelMatcher,
  pods: ClaimDeps["pods"],
): readonly PodObject[] | undefined {
  const candidates = jobPodCandidates(pods, job);
  for (const pod of candidates)
    if (getControllerOf(pod)?.uid !== job.metadata.uid || !selector(pod.metadata.labels)) return undefined;
  return candidates;
}

/**
 * Returns the Job's pods except succeeded pods that were already counted. It adopts matching orphans and releases owned
 * pods that no longer match. Adopting adds the tracking finalizer, and releasing removes it.
 *
 * @param finalizerRemovedUIDs - UIDs of pods that belong to the Job even if the cache shows otherwise: the controller
 * has counted them and removed their finalizer. Upstream adopts them again, with a new finalizer, while its cache does
 * not show the adoption, and counts them twice.
 * @throws One error for all rejected requests, after every candidate was tried. Upstream: job_controller.go
 * getPodsForJob.
 */
export async function claimPods(
  job: JobObject,
  selector: LabelMatcher,
  finalizerRemovedUIDs: ReadonlySet<string>,
  { pods, jobClient, podControl }: ClaimDeps,
  signal: AbortSignal,
): Promise<readonly PodObject[]> {
  const manager = new ControllerRefManager<Pod>({
    controller: job,
    controllerDefinition: jobs,
    kind: "Pod",
    selector,
    canAdopt: recheckDeletionTimestamp(jobClient, job),
    finalizers: [JOB_TRACKING_FINALIZER],
    patch: (namespace, name, body, patchSignal) => podControl.patchPod(namespace, name, body, patchSignal),
  });
  const candidates = jobPodCandidates(pods, job);
  // A Job that is being deleted adopts no pods, so pods that were released for it have no controller.
  const isFinalizerRemoved = (pod: PodObject): boolean => !isBeingDeleted(job) && finalizerRemovedUIDs.has(uidOf(pod));
  const { claimed, error } = await manager.claim(
    candidates.filter((pod) => !isFinalizerRemoved(pod)),
    signal,
  );
  if (error !== undefined) throw error;
  return [...candidates.filter(isFinalizerRemoved), ...claimed];
}

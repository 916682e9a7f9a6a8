import { type Job, JOB_TRACKING_FINALIZER, type LabelMatcher, type Pod, getControllerOf, jobs } from "@kubewright/api";
import type { Reader } from "@kubewright/client";
import { ControllerRefManager, type PodControl, recheckDeletionTimestamp } from "@kubewright/controller";
import type { Lister } from "@kubewright/informer";

import { jobPodCandidates, type jobPodsIndex } from "./job-pods-index.js";
import { type JobObject, type PodObject, isBeingDeleted } from "./job-spec.js";
import { uidOf } from "./pod-state.js";

export interface ClaimDeps {
  /** With the {@link jobPodsIndex}. */
  readonly pods: Pick<Lister<Pod, typeof jobPodsIndex>, "byIndex">;
  readonly jobClient: Pick<Reader<Job>, "definition" | "get">;
  readonly podControl: PodControl;
}

/**
 * What {@link claimPods} comes to where nothing is to be adopted or let go, as is usual: nobody is asked.
 *
 * @returns `undefined` when something is.
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
 * The Job's pods, but for succeeded ones that were accounted for: those that it controls, and matching ones that nobody controls,
 * which it adopts. Those that match no longer are let go. Adopting adds the tracking finalizer, releasing removes it.
 *
 * @finalizerRemovedUIDs finalizerRemovedUIDs - UIDs of pods that are the Job's, whatever the cache shows: it has counted them, and taken their finalizer. Upstream
 * adopts them anew, finalizer and all, when its cache does not show yet that it has done so, and counts them twice.
 * @throws all refusals in one, after every candidate was tried.
 * Upstream: job_controller.go getPodsForJob.
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
  // A Job that is being deleted adopts nothing: what was let go for it is nobody's.
  const isFinalizerRemoved = (pod: PodObject): boolean => !isBeingDeleted(job) && finalizerRemovedUIDs.has(uidOf(pod));
  const { claimed, error } = await manager.claim(
    candidates.filter((pod) => !isFinalizerRemoved(pod)),
    signal,
  );
  if (error !== undefined) throw error;
  return [...candidates.filter(isFinalizerRemoved), ...claimed];
}

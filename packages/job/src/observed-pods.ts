import { isPodActive, isPodReady, isPodTerminating } from "@kubewright/controller";

import { type JobObject, type PodObject, indexCount, isIndexed, replacesOnlyFailedPods } from "./job-spec.js";
import { matchPodFailurePolicy } from "./pod-failure-policy.js";
import { hasTrackingFinalizer, isPodFailed, isPodSucceeded, uidOf, uidSet, validIndexOf } from "./pod-state.js";

/** The pods of a Job by state. */
export interface ObservedPods {
  /** All claimed pods, without successes that were already counted. */
  readonly pods: readonly PodObject[];
  readonly active: readonly PodObject[];
  readonly ready: number;
  /** Pods that are being deleted and have not ended. */
  readonly terminating: readonly PodObject[];
  /** Pods with the tracking finalizer, whose end the status does not count yet. */
  readonly tracked: readonly PodObject[];
  readonly newlySucceeded: readonly PodObject[];
  readonly newlyFailed: readonly PodObject[];
  /** Cumulative; for an indexed Job pods, not indexes. */
  readonly succeeded: number;
  /** Cumulative, without failures that the pod failure policy ignores. */
  readonly failed: number;
}

/**
 * Counts the pods of a Job.
 *
 * A pod that the status has recorded is not new, however it has ended: the first record stays. Upstream checks one list
 * only. It counts a pod that is recorded as succeeded and has failed since as another failure.
 *
 * @param finalizersBeingRemoved - UIDs of pods whose finalizer is removed or being removed, though the cache may still
 * show it. Upstream: job_controller.go syncJob, the part that builds syncJobCtx, and getNewFinishedPods.
 */
export function observePods(
  job: JobObject,
  pods: readonly PodObject[],
  finalizersBeingRemoved: ReadonlySet<string>,
): ObservedPods {
  const onlyReplaceFailed = replacesOnlyFailedPods(job);
  const policy = job.spec?.podFailurePolicy;
  const indexed = isIndexed(job);
  const completions = indexCount(job);
  const uncountedSucceeded = job.status?.uncountedTerminatedPods?.succeeded ?? [];
  const uncountedFailed = job.status?.uncountedTerminatedPods?.failed ?? [];
  const recorded = uidSet([...uncountedSucceeded, ...uncountedFailed]);

  const active: PodObject[] = [];
  const tracked: PodObject[] = [];
  const newlySucceeded: PodObject[] = [];
  const newlyFailed: PodObject[] = [];
  let ready = 0;
  const terminating: PodObject[] = [];
  let countedFailures = 0;
  for (const pod of pods) {
    if (isPodActive(pod)) {
      active.push(pod);
      if (isPodReady(pod)) ready++;
    } else if (isPodTerminating(pod)) {
      terminating.push(pod);
    }
    if (!hasTrackingFinalizer(pod) || finalizersBeingRemoved.has(uidOf(pod))) continue;
    tracked.push(pod);
    if (recorded.has(uidOf(pod)) || (indexed && validIndexOf(pod, completions) === undefined)) continue;
    if (isPodSucceeded(pod)) {
      newlySucceeded.push(pod);
    } else if (isPodFailed(pod, onlyReplaceFailed)) {
      newlyFailed.push(pod);
      if (matchPodFailurePolicy(policy, pod).counts) countedFailures++;
    }
  }
  return {
    pods,
    active,
    ready,
    terminating,
    tracked,
    newlySucceeded,
    newlyFailed,
    succeeded: (job.status?.succeeded ?? 0) + newlySucceeded.length + uncountedSucceeded.length,
    failed: (job.status?.failed ?? 0) + countedFailures + uncountedFailed.length,
  };
}

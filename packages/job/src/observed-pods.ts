import { isPodActive, isPodReady, isPodTerminating } from "@kubewright/controller";

import { type JobObject, type PodObject, indexCount, isIndexed, replacesOnlyFailedPods } from "./job-spec.js";
import { matchPodFailurePolicy } from "./pod-failure-policy.js";
import { hasTrackingFinalizer, isPodFailed, isPodSucceeded, uidOf, uidSet, validIndexOf } from "./pod-state.js";

/** A Job's pods, sorted out. */
export interface ObservedPods {
  /** All that were claimed: what is left out are successes that were accounted for. */
  readonly pods: readonly PodObject[];
  readonly active: readonly PodObject[];
  readonly ready: number;
  /** Being deleted, and not ended yet. */
  readonly terminating: readonly PodObject[];
  /** Those whose end the status does not yet account for. */
  readonly tracked: readonly PodObject[];
  readonly newlySucceeded: readonly PodObject[];
  readonly newlyFailed: readonly PodObject[];
  /** Cumulative; of an indexed Job, pods rather than indexes. */
  readonly succeeded: number;
  /** Cumulative, without failures that the pod failure policy ignores. */
  readonly failed: number;
}

/**
 * Counts the pods of a Job.
 *
 * A pod that the status has recorded is no news, however it has ended: what was recorded first stays. Upstream looks at
 * one list only, and so takes a pod that is recorded as succeeded, and has failed since, for one more failure.
 *
 * @param finalizersBeingRemoved - UIDs whose finalizer is gone, or going, though the cache may still show it.
 * Upstream: job_controller.go syncJob, the part that builds syncJobCtx, and getNewFinishedPods.
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

import { type ContainerStatus, type DeepReadonly, secondsAsDurationMs, parseTime } from "@kubewright/api";

import type { PodObject } from "./job-spec.js";
import { isPodFailed, isPodSucceeded } from "./pod-state.js";

/**
 * Returns when the pod ended, in epoch milliseconds, from the best available source: the finish times of its
 * containers, the time it became not ready, the time of its deletion request, its creation.
 *
 * Upstream: backoff_utils.go getFinishedTime.
 */
export function podFinishTimeMs(pod: PodObject): number {
  return (
    containersFinishTimeMs(pod) ??
    notReadySinceMs(pod) ??
    deletionRequestedMs(pod) ??
    parseTime(pod.metadata.creationTimestamp) ??
    0
  );
}

/**
 * Returns whether the deletion of the pod was requested before it ended, so that the deletion determined its end. Times
 * have whole seconds; a pod that ended in the same second counts as deleted before.
 */
export function wasDeletedWhileRunning(pod: PodObject): boolean {
  const requestedMs = deletionRequestedMs(pod);
  if (requestedMs === undefined) return false;
  const hasEnded = isPodFailed(pod, true) || isPodSucceeded(pod);
  return !hasEnded || (containersFinishTimeMs(pod) ?? requestedMs) >= requestedMs;
}

/**
 * Returns the last finish time of all containers and of all sidecars, which may run longer; `undefined` while one of
 * them runs.
 */
function containersFinishTimeMs(pod: PodObject): number | undefined {
  const containers = latestFinishMs(undefined, pod.status?.containerStatuses ?? []);
  const sidecars = new Set(
    (pod.spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always").map(({ name }) => name),
  );
  if (sidecars.size === 0) return containers;
  const statuses = (pod.status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name));
  return latestFinishMs(containers, statuses);
}

function latestFinishMs(
  earlierMs: number | undefined,
  statuses: readonly DeepReadonly<ContainerStatus>[],
): number | undefined {
  let latestMs = earlierMs;
  for (const { state } of statuses) {
    const finishedMs = parseTime(state?.terminated?.finishedAt);
    if (finishedMs === undefined) return undefined;
    if (latestMs === undefined || finishedMs > latestMs) latestMs = finishedMs;
  }
  return latestMs;
}

function notReadySinceMs(pod: PodObject): number | undefined {
  const ready = pod.status?.conditions?.find(({ type }) => type === "Ready");
  return ready?.status === "False" ? parseTime(ready.lastTransitionTime) : undefined;
}

function deletionRequestedMs(pod: PodObject): number | undefined {
  const deadlineMs = parseTime(pod.metadata.deletionTimestamp);
  return deadlineMs === undefined
    ? undefined
    : deadlineMs - secondsAsDurationMs(pod.metadata.deletionGracePeriodSeconds ?? 0);
}

import { type DeepReadonly, type Pod, findCondition, parseTime } from "@kubewright/api";

import { isPodReady } from "./pod-filters.js";

/**
 * Compares pods by deletion cost; the pod to delete first comes first (kubernetes/pkg/controller ActivePods).
 *
 * The first rule that distinguishes two pods decides:
 *
 * - not assigned to a node
 * - phase Pending (or any other) before Unknown before Running
 * - not ready
 * - ready for a shorter time
 * - more restarts of a container, then of a sidecar
 * - newer
 *
 * Upstream leaves ties unordered. Here the name decides, so that the order never depends on the input order.
 */
export function comparePodsForDeletion(a: DeepReadonly<Pod>, b: DeepReadonly<Pod>): number {
  const unassigned = trueFirst(!a.spec?.nodeName, !b.spec?.nodeName);
  if (unassigned !== 0) return unassigned;
  const phase = phaseRank(a) - phaseRank(b);
  if (phase !== 0) return phase;
  const aReady = isPodReady(a);
  const bReady = isPodReady(b);
  const notReady = trueFirst(!aReady, !bReady);
  if (notReady !== 0) return notReady;
  if (aReady && bReady) {
    const readyTime = newestFirst(readySince(a), readySince(b));
    if (readyTime !== 0) return readyTime;
  }
  const restarts = containerRestarts(b) - containerRestarts(a);
  if (restarts !== 0) return restarts;
  const sidecarRestarts = restartsOfSidecars(b) - restartsOfSidecars(a);
  if (sidecarRestarts !== 0) return sidecarRestarts;
  const age = newestFirst(parseTime(a.metadata.creationTimestamp), parseTime(b.metadata.creationTimestamp));
  if (age !== 0) return age;
  return compareNames(a.metadata.name ?? "", b.metadata.name ?? "");
}

function trueFirst(a: boolean, b: boolean): number {
  return a === b ? 0 : a ? -1 : 1;
}

function phaseRank(pod: DeepReadonly<Pod>): number {
  const phase = pod.status?.phase;
  return phase === "Running" ? 2 : phase === "Unknown" ? 1 : 0;
}

/** Compares times, the newest first. A missing time counts as the newest. */
function newestFirst(aMs: number | undefined, bMs: number | undefined): number {
  if (aMs === bMs) return 0;
  if (aMs === undefined) return -1;
  return bMs === undefined ? 1 : bMs - aMs;
}

function readySince(pod: DeepReadonly<Pod>): number | undefined {
  return parseTime(findCondition(pod.status?.conditions, "Ready")?.lastTransitionTime);
}

function containerRestarts(pod: DeepReadonly<Pod>): number {
  let max = 0;
  for (const { restartCount } of pod.status?.containerStatuses ?? []) max = Math.max(max, restartCount ?? 0);
  return max;
}

/** Sidecars are init containers with restartPolicy `Always`. */
function restartsOfSidecars(pod: DeepReadonly<Pod>): number {
  const statuses = pod.status?.initContainerStatuses;
  if (statuses === undefined) return 0;
  const isSidecar = (name: string): boolean =>
    pod.spec?.initContainers?.some((container) => container.name === name && container.restartPolicy === "Always") ??
    false;
  let max = 0;
  for (const { name, restartCount } of statuses) if (restartCount > max && isSidecar(name)) max = restartCount;
  return max;
}

function compareNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

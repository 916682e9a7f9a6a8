import { JOB_COMPLETION_INDEX_ANNOTATION, JOB_TRACKING_FINALIZER } from "@kubewright/api";

import { parseDecimal } from "./decimal.js";
import { type PodObject, isBeingDeleted } from "./job-spec.js";

/**
 * Returns whether the pod has the tracking finalizer. The finalizer prevents its removal until the Job's status counts
 * the pod.
 */
export function hasTrackingFinalizer(pod: PodObject): boolean {
  return pod.metadata.finalizers?.includes(JOB_TRACKING_FINALIZER) ?? false;
}

/**
 * Returns whether the pod counts as failed. A pod that is being deleted counts immediately, unless only ended pods may
 * be replaced.
 *
 * Upstream: job_controller.go isPodFailed.
 */
export function isPodFailed(pod: PodObject, onlyReplaceFailed: boolean): boolean {
  const phase = pod.status?.phase;
  if (phase === "Failed") return true;
  return !onlyReplaceFailed && isBeingDeleted(pod) && phase !== "Succeeded";
}

export function isPodSucceeded(pod: PodObject): boolean {
  return pod.status?.phase === "Succeeded";
}

/**
 * Returns the pod's completion index; `undefined` when its annotation is missing, invalid or negative. The index may
 * exceed the Job's completions after those were lowered.
 *
 * Upstream: indexed_job_utils.go getCompletionIndex.
 */
export function completionIndexOf(pod: PodObject): number | undefined {
  const text = pod.metadata.annotations?.[JOB_COMPLETION_INDEX_ANNOTATION];
  const index = text === undefined ? undefined : parseDecimal(text);
  return index !== undefined && index >= 0 ? index : undefined;
}

/** Returns the completion index if it is below the number of completions. */
export function validIndexOf(pod: PodObject, completions: number): number | undefined {
  const index = completionIndexOf(pod);
  return index !== undefined && index < completions ? index : undefined;
}

export function uidOf(pod: PodObject): string {
  return pod.metadata.uid ?? "";
}

export const NO_UIDS: ReadonlySet<string> = new Set();

/** Returns a shared empty set for the usual case without UIDs. */
export function uidSet(uids: readonly string[]): ReadonlySet<string> {
  return uids.length === 0 ? NO_UIDS : new Set(uids);
}

/** Compares pods by age, the oldest first, then by name. Upstream leaves such lists in the order of a hash map. */
export function comparePodsByAge(a: PodObject, b: PodObject): number {
  const left = a.metadata.creationTimestamp ?? "";
  const right = b.metadata.creationTimestamp ?? "";
  if (left !== right) return left < right ? -1 : 1;
  const leftName = a.metadata.name ?? "";
  const rightName = b.metadata.name ?? "";
  return leftName < rightName ? -1 : leftName > rightName ? 1 : 0;
}

import { type Pod, getControllerOf, jobs } from "@kubewright/api";
import { isPodTerminal } from "@kubewright/controller";
import { type EventHandler, deletedObject } from "@kubewright/informer";

import type { PodObject } from "./job-spec.js";
import { uidOf } from "./pod-state.js";

/**
 * Tracks the unfinished pods of each Job incrementally. Counting all pods at each event would cost quadratic time for a
 * Job with many pods.
 */
export class UnfinishedPods implements EventHandler<Pod> {
  readonly #byJobUID = new Map<string, Set<string>>();

  /** Returns whether a pod of the Job is active or terminating, so that further events are expected. */
  has(jobUID: string): boolean {
    return this.#byJobUID.has(jobUID);
  }

  onAdd(pod: PodObject): void {
    if (isPodTerminal(pod)) return;
    const jobUID = jobUIDOf(pod);
    if (jobUID === undefined) return;
    const uids = this.#byJobUID.get(jobUID);
    if (uids === undefined) this.#byJobUID.set(jobUID, new Set([uidOf(pod)]));
    else uids.add(uidOf(pod));
  }

  onUpdate(before: PodObject, pod: PodObject): void {
    if (isIrrelevantToJobs(before, pod)) return;
    if (isPodTerminal(pod) || jobUIDOf(before) !== jobUIDOf(pod) || uidOf(before) !== uidOf(pod)) this.#forget(before);
    this.onAdd(pod);
  }

  onDelete(deleted: Parameters<NonNullable<EventHandler<Pod>["onDelete"]>>[0]): void {
    const pod = deletedObject(deleted);
    if (pod !== undefined) this.#forget(pod);
  }

  #forget(pod: PodObject): void {
    const jobUID = jobUIDOf(pod);
    const uids = jobUID === undefined ? undefined : this.#byJobUID.get(jobUID);
    if (!uids?.delete(uidOf(pod)) || uids.size > 0) return;
    this.#byJobUID.delete(jobUID!);
  }
}

/** Compares only fields that most updates leave unchanged. */
function isIrrelevantToJobs(before: PodObject, pod: PodObject): boolean {
  return (
    before.metadata.ownerReferences === pod.metadata.ownerReferences &&
    before.metadata.uid === pod.metadata.uid &&
    isPodTerminal(before) === isPodTerminal(pod)
  );
}

function jobUIDOf(pod: PodObject): string | undefined {
  const reference = getControllerOf(pod);
  return reference?.kind === jobs.kind ? reference.uid : undefined;
}

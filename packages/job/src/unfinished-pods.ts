import { type Pod, getControllerOf, jobs } from "@kubewright/api";
import { isPodTerminal } from "@kubewright/controller";
import { type EventHandler, deletedObject } from "@kubewright/informer";

import type { PodObject } from "./job-spec.js";
import { uidOf } from "./pod-state.js";

/**
 * Which pods of each Job have yet to end, kept up to date event by event: counting them anew at each event of a Job with
 * many pods would cost the square of their number.
 */
export class UnfinishedPods implements EventHandler<Pod> {
  readonly #byJobUID = new Map<string, Set<string>>();

  /** Whether a pod of the Job is active or terminating, so that more is to be heard of it. */
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

/** Told from what most updates leave as it is. */
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

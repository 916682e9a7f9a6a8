import { type DeepReadonly, type ObjectKey, type Pod, keyOf } from "@kubewright/api";

import { isPodTerminated } from "./select-pods.js";

interface Entry {
  readonly terminated: boolean;
  readonly terminating: boolean;
  readonly nodeName: string;
}

/**
 * Counts of the pods that a pass may collect, updated with every pod event. Most passes have nothing to do, and detect
 * that here without scanning all pods.
 */
export class PodCounts {
  readonly #pods = new Map<ObjectKey, Entry>();
  readonly #podsByNode = new Map<string, number>();
  #terminated = 0;
  #terminating = 0;

  /** Number of terminated pods. */
  get terminated(): number {
    return this.#terminated;
  }

  /** Number of pods with a deletion timestamp. */
  get terminating(): number {
    return this.#terminating;
  }

  /** Returns the names of nodes that have pods. */
  nodeNames(): Iterable<string> {
    return this.#podsByNode.keys();
  }

  set(pod: DeepReadonly<Pod>): void {
    const key = keyOf(pod);
    const next: Entry = {
      terminated: isPodTerminated(pod),
      terminating: Boolean(pod.metadata.deletionTimestamp),
      nodeName: pod.spec?.nodeName ?? "",
    };
    const known = this.#pods.get(key);
    if (known !== undefined) this.#count(known, -1);
    this.#pods.set(key, next);
    this.#count(next, 1);
  }

  delete(key: ObjectKey): void {
    const known = this.#pods.get(key);
    if (known === undefined) return;
    this.#pods.delete(key);
    this.#count(known, -1);
  }

  #count({ terminated, terminating, nodeName }: Entry, by: 1 | -1): void {
    if (terminated) this.#terminated += by;
    if (terminating) this.#terminating += by;
    if (nodeName === "") return;
    const pods = (this.#podsByNode.get(nodeName) ?? 0) + by;
    if (pods === 0) this.#podsByNode.delete(nodeName);
    else this.#podsByNode.set(nodeName, pods);
  }
}

/** Whether an update of a pod does not change the counts, like most updates. */
export function hasEqualCounts(old: DeepReadonly<Pod>, pod: DeepReadonly<Pod>): boolean {
  return (
    isPodTerminated(old) === isPodTerminated(pod) &&
    old.spec?.nodeName === pod.spec?.nodeName &&
    old.metadata.deletionTimestamp === pod.metadata.deletionTimestamp
  );
}

import { type DeepReadonly, type ObjectKey, type Pod, keyOf } from "@kubewright/api";

import { isPodTerminated } from "./select-pods.js";

interface Entry {
  readonly terminated: boolean;
  readonly terminating: boolean;
  readonly nodeName: string;
}

/**
 * What a pass looks for, counted as pods come, change and go: most passes have nothing to do, and find that out here
 * without looking at every pod.
 */
export class PodCounts {
  readonly #pods = new Map<ObjectKey, Entry>();
  readonly #podsByNode = new Map<string, number>();
  #terminated = 0;
  #terminating = 0;

  /** Pods that have ended. */
  get terminated(): number {
    return this.#terminated;
  }

  /** Pods that are being deleted. */
  get terminating(): number {
    return this.#terminating;
  }

  /** Names of nodes that have pods. */
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

/** Whether a change of a pod is of no account: most are. */
export function hasEqualCounts(old: DeepReadonly<Pod>, pod: DeepReadonly<Pod>): boolean {
  return (
    isPodTerminated(old) === isPodTerminated(pod) &&
    old.spec?.nodeName === pod.spec?.nodeName &&
    old.metadata.deletionTimestamp === pod.metadata.deletionTimestamp
  );
}

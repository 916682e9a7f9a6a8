import type { ObjectKey } from "@kubewright/api";

import type { PodRequests } from "./resources.js";

interface Group {
  readonly requests: PodRequests;
  /** Pods in order of arrival, each with its position among the pods of all groups. */
  readonly keys: Map<ObjectKey, number>;
}

/** Unschedulable pods, grouped by their requests: when a node gets room, one check per group finds a pod that fits. */
export class UnschedulablePods {
  readonly #groups = new Map<string, Group>();
  readonly #groupOf = new Map<ObjectKey, Group>();
  #arrivals = 0;

  get size(): number {
    return this.#groupOf.size;
  }

  has(key: ObjectKey): boolean {
    return this.#groupOf.has(key);
  }

  add(key: ObjectKey, requests: PodRequests): void {
    this.remove(key);
    let group = this.#groups.get(requests.key);
    if (group === undefined) {
      group = { requests, keys: new Map() };
      this.#groups.set(requests.key, group);
    }
    group.keys.set(key, this.#arrivals++);
    this.#groupOf.set(key, group);
  }

  remove(key: ObjectKey): void {
    if (this.#groupOf.size === 0) return;
    const group = this.#groupOf.get(key);
    if (group === undefined) return;
    this.#groupOf.delete(key);
    group.keys.delete(key);
    if (group.keys.size === 0) this.#groups.delete(group.requests.key);
  }

  /** Removes and returns the pod that has waited longest among those that fit. */
  takeFirst(fits: (requests: PodRequests) => boolean): ObjectKey | undefined {
    let first: ObjectKey | undefined;
    let earliest = Number.POSITIVE_INFINITY;
    for (const { requests, keys } of this.#groups.values()) {
      const [head] = keys;
      if (head === undefined || head[1] >= earliest || !fits(requests)) continue;
      [first, earliest] = head;
    }
    if (first !== undefined) this.remove(first);
    return first;
  }
}

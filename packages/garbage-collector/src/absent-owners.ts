import type { ObjectIdentity } from "./object-identity.js";

/**
 * Owners known not to exist, the `capacity` used last: each is asked for once, not by every dependent. They are told by all
 * of their identity: that one is mistaken about an owner says nothing of others with its UID.
 *
 * @see kubernetes v1.36 pkg/controller/garbagecollector/uid_cache.go ReferenceCache
 */
export class AbsentOwners {
  readonly #capacity: number;
  /** Least recently used first. */
  readonly #keys = new Set<string>();

  constructor(capacity = 500) {
    this.#capacity = capacity;
  }

  add(owner: ObjectIdentity): void {
    const key = keyOf(owner);
    this.#keys.delete(key);
    this.#keys.add(key);
    if (this.#keys.size > this.#capacity) this.#keys.delete(this.#keys.keys().next().value!);
  }

  /** Counts as use. */
  has(owner: ObjectIdentity): boolean {
    const key = keyOf(owner);
    if (!this.#keys.delete(key)) return false;
    this.#keys.add(key);
    return true;
  }
}

function keyOf({ apiVersion, kind, namespace, name, uid }: ObjectIdentity): string {
  return JSON.stringify([apiVersion, kind, namespace, name, uid]);
}

import type { ObjectIdentity } from "./object-identity.js";

/**
 * Cache of owners that are known not to exist, limited to the `capacity` most recently used. Each absent owner is
 * requested once, not for every dependent. The key is the whole identity: a wrong identity in one dependent must not
 * affect other owners with that UID.
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

  /** Returns whether the owner is known to be absent, and marks it as used. */
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

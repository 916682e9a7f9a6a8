import type { ObjectIdentity } from "./object-identity.js";

/**
 * Owners known not to exist, the `capacity` used last: each is asked for once, not by every dependent.
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
    const key = keyOfIdentity(owner);
    this.#keys.delete(key);
    this.#keys.add(key);
    if (this.#keys.size > this.#capacity) this.#keys.delete(this.#keys.values().next().value!);
  }

  /** Counts as use. */
  has(owner: ObjectIdentity): boolean {
    const key = keyOfIdentity(owner);
    if (!this.#keys.delete(key)) return false;
    this.#keys.add(key);
    return true;
  }
}

function keyOfIdentity({ apiVersion, kind, namespace, name, uid }: ObjectIdentity): string {
  // None of the first four has a space.
  return `${apiVersion} ${kind} ${namespace} ${name} ${uid}`;
}

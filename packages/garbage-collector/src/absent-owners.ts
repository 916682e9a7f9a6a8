import { type ObjectIdentity, sameIdentity } from "./object-identity.js";

/**
 * Owners known not to exist, the `capacity` used last: each is asked for once, not by every dependent. Of several with one
 * UID, of which all but one are mistaken, the last counts.
 *
 * @see kubernetes v1.36 pkg/controller/garbagecollector/uid_cache.go ReferenceCache
 */
export class AbsentOwners {
  readonly #capacity: number;
  /** By UID, least recently used first. */
  readonly #owners = new Map<string, ObjectIdentity>();

  constructor(capacity = 500) {
    this.#capacity = capacity;
  }

  add(owner: ObjectIdentity): void {
    this.#owners.delete(owner.uid);
    this.#owners.set(owner.uid, owner);
    if (this.#owners.size > this.#capacity) this.#owners.delete(this.#owners.keys().next().value!);
  }

  /** Counts as use. */
  has(owner: ObjectIdentity): boolean {
    const known = this.#owners.get(owner.uid);
    if (known === undefined || !sameIdentity(known, owner)) return false;
    this.#owners.delete(owner.uid);
    this.#owners.set(owner.uid, known);
    return true;
  }
}

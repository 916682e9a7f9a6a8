import { compareResourceVersions, qualifiedResource } from "@kubewright/api";

export interface GroupResource {
  /** `""` for the core group. */
  readonly group: string;
  readonly resource: string;
}

/** A cache the controller reads: which resource, and how far it has come. */
export interface ObservedStore extends GroupResource {
  /** The store's resourceVersion: of the last event, bookmark or list applied; `""` when unknown. */
  readonly resourceVersion: () => string;
}

export type Readiness =
  | { readonly ready: true }
  | { readonly ready: false; readonly group: string; readonly resource: string; readonly message: string };

interface Writes {
  readonly ownerUID: string;
  readonly versions: Map<string, { readonly target: GroupResource; readonly resourceVersion: string }>;
}

/**
 * Read your writes: remembers the newest resourceVersion written on behalf of an owner, and tells whether the caches
 * have come that far. Complements expectations; replaces none.
 *
 * @see kubernetes v1.36 pkg/controller/util/consistency
 */
export class ConsistencyStore {
  readonly #stores = new Map<string, ObservedStore>();
  readonly #writes = new Map<string, Writes>();

  constructor({ stores }: { readonly stores: Iterable<ObservedStore> }) {
    for (const store of stores) this.#stores.set(qualifiedResource(store), store);
  }

  /** Records a successful write, with the resourceVersion of its answer. Another owner UID starts a new record. */
  wroteAt(owner: string, ownerUID: string, { group, resource }: GroupResource, resourceVersion: string): void {
    let writes = this.#writes.get(owner);
    if (writes?.ownerUID !== ownerUID) {
      writes = { ownerUID, versions: new Map() };
      this.#writes.set(owner, writes);
    }
    const key = qualifiedResource({ group, resource });
    const known = writes.versions.get(key);
    // Versions that cannot be compared: the new one wins, as upstream.
    if (known !== undefined && (compareResourceVersions(known.resourceVersion, resourceVersion) ?? -1) >= 0) return;
    writes.versions.set(key, { target: { group, resource }, resourceVersion });
  }

  /** Whether every cache shows what was written for the owner. Resources without a store, and versions that are not well formed, count as shown. */
  ensureReady(owner: string): Readiness {
    const writes = this.#writes.get(owner);
    if (writes === undefined) return { ready: true };
    for (const [key, { target, resourceVersion: written }] of writes.versions) {
      const read = this.#stores.get(key)?.resourceVersion() ?? "";
      if ((compareResourceVersions(read, written) ?? 0) >= 0) continue;
      const message = `read version: ${read} is not as new as written version: ${written} for group resource ${key}`;
      return { ready: false, ...target, message };
    }
    this.#writes.delete(owner);
    return { ready: true };
  }

  /** Forgets the owner; with a UID only if the record is of that very owner. */
  clear(owner: string, ownerUID = ""): void {
    if (ownerUID === "" || this.#writes.get(owner)?.ownerUID === ownerUID) this.#writes.delete(owner);
  }
}

import { compareResourceVersions, qualifiedResource } from "@kubewright/api";

export interface GroupResource {
  /** `""` for the core group. */
  readonly group: string;
  readonly resource: string;
}

/** A cache that the controller reads: its resource and its resourceVersion. */
export interface ObservedStore extends GroupResource {
  /** Returns the cache's resourceVersion: that of the last applied event, bookmark or list; `""` if unknown. */
  readonly resourceVersion: () => string;
}

export type Readiness =
  | { readonly ready: true }
  | { readonly ready: false; readonly group: string; readonly resource: string; readonly message: string };

interface Writes {
  readonly ownerUID: string;
  /** At most one per store. */
  readonly versions: { readonly store: ObservedStore; resourceVersion: string }[];
}

/**
 * Read your writes: records the newest resourceVersion written for each owner, and returns whether the caches have
 * reached it. Complements expectations, and does not replace them.
 *
 * @see kubernetes v1.36 pkg/controller/util/consistency
 */
export class ConsistencyStore {
  readonly #stores: readonly ObservedStore[];
  readonly #writes = new Map<string, Writes>();

  constructor({ stores }: { readonly stores: Iterable<ObservedStore> }) {
    this.#stores = [...stores];
  }

  /**
   * Records a successful write with the resourceVersion of its response. A different owner UID starts a new record. Has
   * no effect for a resource without a store.
   */
  wroteAt(owner: string, ownerUID: string, { group, resource }: GroupResource, resourceVersion: string): void {
    const store = this.#stores.find((each) => each.resource === resource && each.group === group);
    const writes = this.#writes.get(owner);
    if (writes?.ownerUID !== ownerUID) {
      this.#writes.delete(owner);
      if (store !== undefined) this.#writes.set(owner, { ownerUID, versions: [{ store, resourceVersion }] });
      return;
    }
    if (store === undefined) return;
    const known = writes.versions.find((each) => each.store === store);
    if (known === undefined) writes.versions.push({ store, resourceVersion });
    // If the versions cannot be compared, the new one wins, as upstream.
    else if ((compareResourceVersions(known.resourceVersion, resourceVersion) ?? -1) < 0)
      known.resourceVersion = resourceVersion;
  }

  /**
   * Whether every cache has reached the writes of the owner. Resources without a store, and versions that are not well
   * formed, count as reached.
   */
  ensureReady(owner: string): Readiness {
    const writes = this.#writes.get(owner);
    if (writes === undefined) return { ready: true };
    for (const { store, resourceVersion: written } of writes.versions) {
      const read = store.resourceVersion();
      if ((compareResourceVersions(read, written) ?? 0) >= 0) continue;
      const { group, resource } = store;
      const message = `read version: ${read} is not as new as written version: ${written} for group resource ${qualifiedResource(store)}`;
      return { ready: false, group, resource, message };
    }
    this.#writes.delete(owner);
    return { ready: true };
  }

  /** Deletes the record of an owner. With a UID, deletes it only if the UID matches. */
  clear(owner: string, ownerUID = ""): void {
    if (ownerUID === "" || this.#writes.get(owner)?.ownerUID === ownerUID) this.#writes.delete(owner);
  }
}

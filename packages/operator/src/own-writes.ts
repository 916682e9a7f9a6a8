import { type DeepReadonly, type KubernetesObject, type ObjectKey, type ResourceDefinition } from "@kubewright/api";
import { ConsistencyStore } from "@kubewright/expectations";

import type { Cache } from "./cache.js";
import type { Caches } from "./caches.js";

interface Deletion {
  readonly definition: ResourceDefinition;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly uid: string | undefined;
}

interface Deleted {
  readonly metadata: { readonly name?: string; readonly namespace?: string; readonly uid?: string };
}

/** Pause before the caches are checked again: doubles from the first to the longest. */
const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 1_000;

/**
 * Tracks the writes of each key's reconciles until the caches show them. Otherwise the next reconcile of the key would
 * decide by stale objects, and create objects twice.
 *
 * @see ConsistencyStore, kubernetes v1.36 pkg/controller/util/consistency
 */
export class OwnWrites {
  readonly #caches: Caches;
  readonly #cache: Cache;
  readonly #stores = new Map<string, ConsistencyStore>();
  readonly #deletions = new Map<ObjectKey, Deletion[]>();
  readonly #pauses = new Map<ObjectKey, number>();

  /** @param caches - With all resources added. */
  constructor(caches: Caches, cache: Cache) {
    this.#caches = caches;
    this.#cache = cache;
    const all = caches.definitions;
    for (const scope of new Set(all.flatMap((definition) => caches.scopesOf(definition)))) {
      const stores = all.flatMap((definition) => {
        const position = caches.scopesOf(definition).indexOf(scope);
        if (position < 0) return [];
        const { store } = caches.informersOf(definition)[position]!;
        const { group, resource } = definition;
        return [{ group, resource, resourceVersion: () => store.lastStoreSyncResourceVersion }];
      });
      this.#stores.set(scope, new ConsistencyStore({ stores }));
    }
  }

  /**
   * Records a create, update or patch.
   *
   * @param uid - UID of the reconciled object.
   * @param written - The object in the API server's response.
   */
  wrote(
    key: ObjectKey,
    uid: string,
    definition: ResourceDefinition,
    { metadata }: DeepReadonly<KubernetesObject>,
  ): void {
    const { namespace = "", resourceVersion = "" } = metadata;
    const scope = this.#caches.scopesOf(definition).find((each) => each === "" || each === namespace);
    if (scope !== undefined) this.#stores.get(scope)?.wroteAt(key, uid, definition, resourceVersion);
  }

  /** Records a delete that removed the object immediately. */
  deleted(key: ObjectKey, definition: ResourceDefinition, { metadata: { name = "", namespace, uid } }: Deleted): void {
    if (!this.#caches.has(definition)) return;
    const known = this.#cache.get(definition, name, namespace);
    if (known === undefined || (uid !== undefined && known.metadata.uid !== uid)) return;
    const others = this.#deletions.get(key) ?? [];
    this.#deletions.set(key, [...others, { definition, name, namespace, uid: known.metadata.uid }]);
  }

  /** How long to wait before the next check, in milliseconds; `undefined`: the caches show all writes of the key. */
  pauseBefore(key: ObjectKey): number | undefined {
    if (this.#isShown(key)) {
      this.#pauses.delete(key);
      return undefined;
    }
    const pause = this.#pauses.get(key) ?? FIRST_PAUSE_MS;
    this.#pauses.set(key, Math.min(pause * 2, MAX_PAUSE_MS));
    return pause;
  }

  /** Forgets a key whose object no longer exists: a new object of that name starts without records. */
  forget(key: ObjectKey): void {
    for (const store of this.#stores.values()) store.clear(key);
    this.#deletions.delete(key);
    this.#pauses.delete(key);
  }

  #isShown(key: ObjectKey): boolean {
    const left = this.#deletions.get(key)?.filter((deletion) => this.#isCached(deletion)) ?? [];
    if (left.length > 0) {
      this.#deletions.set(key, left);
      return false;
    }
    this.#deletions.delete(key);
    return [...this.#stores.values()].every((store) => store.ensureReady(key).ready);
  }

  #isCached({ definition, name, namespace, uid }: Deletion): boolean {
    const object = this.#cache.get(definition, name, namespace);
    return object !== undefined && object.metadata.uid === uid && object.metadata.deletionTimestamp === undefined;
  }
}

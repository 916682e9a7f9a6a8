import {
  type DeepReadonly,
  type KubernetesObject,
  type ObjectKey,
  type ResourceDefinition,
  definitionKey,
} from "@kubewright/api";
import { ConsistencyStore } from "@kubewright/expectations";

import type { Cache } from "./cache.js";
import { isSelected } from "./cache-narrowing.js";
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
        const resourceVersion = (): string => store.lastStoreSyncResourceVersion;
        return [{ ...storeOf(definition), resourceVersion }];
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
  wrote(key: ObjectKey, uid: string, definition: ResourceDefinition, written: DeepReadonly<KubernetesObject>): void {
    const { namespace = "", resourceVersion = "" } = written.metadata;
    for (const cached of this.#cachesOf(definition)) {
      const scope = this.#caches.scopesOf(cached).find((each) => each === "" || each === namespace);
      if (scope !== undefined && this.#reachesCache(cached, written))
        this.#stores.get(scope)?.wroteAt(key, uid, storeOf(cached), resourceVersion);
    }
  }

  /** Records a delete that removed the object immediately. */
  deleted(key: ObjectKey, definition: ResourceDefinition, { metadata: { name = "", namespace, uid } }: Deleted): void {
    for (const cached of this.#cachesOf(definition)) {
      const known = this.#cache.get(cached, name, namespace);
      if (known === undefined || (uid !== undefined && known.metadata.uid !== uid)) continue;
      const others = this.#deletions.get(key) ?? [];
      this.#deletions.set(key, [...others, { definition: cached, name, namespace, uid: known.metadata.uid }]);
    }
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

  /** All cached versions and representations of a resource: a write changes each of them. */
  #cachesOf({ group, resource }: ResourceDefinition): readonly ResourceDefinition[] {
    return this.#caches.definitions.filter((each) => each.group === group && each.resource === resource);
  }

  /** Whether the watch of a narrowed cache reports the write: the object is selected, or was until now. */
  #reachesCache(definition: ResourceDefinition, written: DeepReadonly<KubernetesObject>): boolean {
    const narrowing = this.#caches.narrowingOf(definition);
    if (narrowing === undefined || isSelected(narrowing, written)) return true;
    const { name = "", namespace } = written.metadata;
    return this.#cache.get(definition, name, namespace) !== undefined;
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

/** Distinguishes the caches of one resource in a {@link ConsistencyStore}. */
function storeOf(definition: ResourceDefinition): { readonly group: string; readonly resource: string } {
  return { group: definition.group, resource: definitionKey(definition) };
}

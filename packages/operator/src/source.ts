import { type DeepReadonly, type KubernetesObject, type ObjectKey, type ResourceDefinition } from "@kubewright/api";
import { type EventHandler, deletedObject } from "@kubewright/informer";
import { type PriorityQueue, lowPriority } from "@kubewright/workqueue";

import type { Cache } from "./cache.js";
import type { CacheNarrowing } from "./cache-narrowing.js";
import type { Caches } from "./caches.js";
import { keyOfTarget } from "./event-source.js";
import type { MapFunction } from "./mapping.js";
import type { Predicate } from "./predicates.js";

export interface SourceOptions<Source extends KubernetesObject> {
  /** Selects the changes that trigger reconciles. Default: all. */
  readonly predicate?: Predicate<Source> | undefined;
  /**
   * Priority of the keys: higher ones are reconciled first. Default 0; keys from an initial list or a resync have -100.
   */
  readonly priority?: number | undefined;
  /**
   * What the cache of the resource stores. Controllers of one operator share the cache, so they must agree. Default: as
   * the operator's `caches` say, else all objects.
   */
  readonly cache?: CacheNarrowing<Source> | undefined;
}

export interface Source<T extends KubernetesObject> extends SourceOptions<T> {
  readonly definition: ResourceDefinition<T>;
  readonly map: MapFunction<T>;
}

/**
 * Adds the keys for each change of a resource to a queue, existing objects first.
 *
 * @returns A function that disconnects the source.
 */
export function connect<T extends KubernetesObject>(
  { definition, map, predicate = {}, priority = 0 }: Source<T>,
  {
    caches,
    cache,
    queue,
  }: { readonly caches: Caches; readonly cache: Cache; readonly queue: PriorityQueue<ObjectKey> },
): () => void {
  /**
   * Adds each key once: a waiting worker takes the first immediately, and a second worker would reconcile a duplicate
   * again.
   */
  const enqueue = (isChange: boolean, ...states: readonly DeepReadonly<T>[]): void => {
    const keys = new Set(states.flatMap((object) => Array.from(map(object, cache), keyOfTarget)));
    for (const key of keys) queue.addWithOptions({ priority: isChange ? priority : lowPriority }, key);
  };
  const handler: EventHandler<T> = {
    onAdd(object, isInInitialList) {
      if (predicate.create?.(object) ?? true) enqueue(!isInInitialList, object);
    },
    onUpdate(old, object) {
      if (!(predicate.update?.(old, object) ?? true)) return;
      const isChange = old.metadata.resourceVersion !== object.metadata.resourceVersion;
      if (isChange) enqueue(true, old, object);
      else enqueue(false, object);
    },
    onDelete(deleted) {
      const object = deletedObject(deleted);
      if (object !== undefined && (predicate.delete?.(object) ?? true)) enqueue(true, object);
    },
  };
  const registrations = caches.informersOf(definition).map((informer) => informer.addEventHandler(handler));
  return () => {
    for (const registration of registrations) registration.remove();
  };
}

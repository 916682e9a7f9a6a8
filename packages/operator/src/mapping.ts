import {
  type DeepReadonly,
  type KubernetesObject,
  type NamespacedName,
  type ObjectKey,
  type ResourceDefinition,
  keyOf,
  objectKey,
} from "@kubewright/api";

import type { Cache } from "./cache.js";
import type { IndexDefinition } from "./index-definition.js";

/**
 * Maps a changed object to the objects that must be reconciled. For an update it is called with the old and the new
 * state. It runs synchronously for every change and must not block.
 *
 * @see controller-runtime pkg/handler EnqueueRequestsFromMapFunc
 */
export type MapFunction<Source extends KubernetesObject> = (
  object: DeepReadonly<Source>,
  cache: Cache,
) => Iterable<ObjectKey | NamespacedName>;

/**
 * Maps an object to its owners of `definition`, or of another version of it.
 *
 * @param options.controllerOnly - Map only to the controlling owner. Default false.
 * @see controller-runtime pkg/handler EnqueueRequestForOwner
 */
export function ownersOf(
  { group, kind, namespaced }: ResourceDefinition,
  { controllerOnly = false }: { readonly controllerOnly?: boolean } = {},
): MapFunction<KubernetesObject> {
  return ({ metadata }) => {
    const namespace = namespaced ? metadata.namespace : undefined;
    return (metadata.ownerReferences ?? [])
      .filter((owner) => owner.kind === kind && groupOf(owner.apiVersion) === group)
      .filter((owner) => !controllerOnly || owner.controller === true)
      .map(({ name }) => objectKey({ namespace, name }));
  };
}

/**
 * Maps an object to the objects that an index finds by its key, `namespace/name` or `name`: those that refer to it.
 *
 * @param valueOf - Index value to use instead of the key.
 */
export function indexedBy<T extends KubernetesObject, Source extends KubernetesObject = KubernetesObject>(
  index: IndexDefinition<T>,
  valueOf: (object: DeepReadonly<Source>) => string = keyOf,
): MapFunction<Source> {
  return (object, cache) => cache.byIndex(index, valueOf(object)).map(keyOf);
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}

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
 * Tells which objects of a controller's resource are to be looked at because another object came, changed or went. Of an
 * update both states are asked about. Called in passing, for every change: it must not wait for anything.
 *
 * @see controller-runtime pkg/handler EnqueueRequestsFromMapFunc
 */
export type MapFunction<Source extends KubernetesObject> = (
  object: DeepReadonly<Source>,
  cache: Cache,
) => Iterable<ObjectKey | NamespacedName>;

/**
 * The owners of an object that are of `definition`, or of another version of it.
 *
 * @param options.controllerOnly - Leave out owners that do not control it. Default false.
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
 * The objects that an index finds by the key of the one that changed, `namespace/name` or `name`: those that refer to it.
 *
 * @param valueOf - What to look for instead of the key.
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

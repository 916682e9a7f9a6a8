import type { DeepReadonly, KubernetesObject, ResourceDefinition } from "@kubewright/api";

/**
 * Transforms each object before any other code sees it, usually to a smaller one for the cache. Returns its argument or
 * a changed copy. Objects are shared, so it must not change its argument. It must not change name, namespace or
 * resourceVersion.
 */
export type Transform<T extends KubernetesObject> = (object: DeepReadonly<T>) => DeepReadonly<T>;

/**
 * A {@link Transform} for objects of every type. Gets the definition, because items of a list do not contain their
 * type.
 */
export type AnyTransform = <T extends KubernetesObject>(
  object: DeepReadonly<T>,
  definition: ResourceDefinition,
) => DeepReadonly<T>;

/** Removes `metadata.managedFields`, often half of an object, as kube-controller-manager does. */
export function withoutManagedFields<T extends KubernetesObject>(object: DeepReadonly<T>): DeepReadonly<T> {
  const { metadata } = object as DeepReadonly<KubernetesObject>;
  if (metadata.managedFields === undefined) return object;
  const { managedFields: _dropped, ...rest } = metadata;
  return { ...object, metadata: rest };
}

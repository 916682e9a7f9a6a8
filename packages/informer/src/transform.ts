import type { DeepReadonly, KubernetesObject, ResourceDefinition } from "@kubewright/api";

/**
 * Makes of each object, before anything else sees it, what is to be cached: less, as a rule. Returns its argument or a
 * changed copy (objects are shared, so it changes nothing in place), and leaves name, namespace and resourceVersion alone.
 */
export type Transform<T extends KubernetesObject> = (object: DeepReadonly<T>) => DeepReadonly<T>;

/** A {@link Transform} for objects of every type: items of a list do not say of which type they are. */
export type AnyTransform = <T extends KubernetesObject>(
  object: DeepReadonly<T>,
  definition: ResourceDefinition,
) => DeepReadonly<T>;

/** Drops `metadata.managedFields`, often half of an object, as kube-controller-manager does. */
export function withoutManagedFields<T extends KubernetesObject>(object: DeepReadonly<T>): DeepReadonly<T> {
  const { metadata } = object as DeepReadonly<KubernetesObject>;
  if (metadata.managedFields === undefined) return object;
  const { managedFields: _dropped, ...rest } = metadata;
  return { ...object, metadata: rest };
}

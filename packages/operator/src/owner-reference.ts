import {
  type DeepReadonly,
  type KubernetesObject,
  type OwnerReference,
  type ResourceDefinition,
  apiVersionOf,
  ownerIdentity,
} from "@kubewright/api";

/**
 * The owner reference that an object of `definition` puts on what is its: without it, that goes too.
 *
 * @throws Error for an owner without a name or UID: it was never stored.
 */
export function ownerReferenceTo<T extends KubernetesObject>(
  definition: ResourceDefinition<T>,
  owner: DeepReadonly<T>,
): OwnerReference {
  return {
    apiVersion: apiVersionOf(definition),
    kind: definition.kind,
    ...ownerIdentity(owner, definition.kind),
  };
}

import {
  type DeepReadonly,
  type KubernetesObject,
  type OwnerReference,
  type ResourceDefinition,
  apiVersionOf,
} from "@kubewright/api";

/** The owner reference that an object of `definition` puts on what is its: without it, that goes too. */
export function ownerReferenceTo<T extends KubernetesObject>(
  definition: ResourceDefinition<T>,
  { metadata }: DeepReadonly<T>,
): OwnerReference {
  return {
    apiVersion: apiVersionOf(definition),
    kind: definition.kind,
    name: metadata.name ?? "",
    uid: metadata.uid ?? "",
  };
}

import {
  type DeepReadonly,
  type KubernetesObject,
  type OwnerReference,
  type ResourceDefinition,
  apiVersionOf,
  newControllerRef,
  ownerIdentity,
} from "@kubewright/api";

/**
 * Creates an entry for the `ownerReferences` of an object that `owner` owns, and that is deleted with it.
 *
 * @param options.controller - Whether the owner controls the object; an object has at most one such owner. {@link
 * ControllerBuilder.owns} and adoption use it. Default true.
 * @throws Error for an owner without name or UID, which was never stored.
 * @see controller-runtime controllerutil SetControllerReference, SetOwnerReference
 */
export function ownerReference<T extends KubernetesObject>(
  definition: ResourceDefinition<T>,
  owner: DeepReadonly<T>,
  { controller = true }: { readonly controller?: boolean } = {},
): OwnerReference {
  const { kind } = definition;
  const apiVersion = apiVersionOf(definition);
  return controller
    ? newControllerRef(owner, { apiVersion, kind })
    : { apiVersion, kind, ...ownerIdentity(owner, kind) };
}

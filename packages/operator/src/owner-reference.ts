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
 * What an object puts among its `ownerReferences` to belong to `owner`, and to go with it.
 *
 * @param options.controller - Whether the owner controls it, of which there is one at most: {@link ControllerBuilder.owns}
 *   and adoption go by that. Default true.
 * @throws Error for an owner without a name or UID: it was never stored.
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

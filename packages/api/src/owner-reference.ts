import type { KubernetesObject, OwnerReference } from "./types.js";
import type { DeepReadonly } from "./readonly.js";

/** The reference with `controller: true`, if there is one (apimachinery `metav1.GetControllerOf`). */
export function getControllerOf(
  object: DeepReadonly<Pick<KubernetesObject, "metadata">>,
): DeepReadonly<OwnerReference> | undefined {
  const references = object.metadata.ownerReferences;
  if (references !== undefined) for (const reference of references) if (reference.controller === true) return reference;
  return undefined;
}

/** Whether the object is controlled by exactly this owner, told by UID (apimachinery `metav1.IsControlledBy`). */
export function isControlledBy(
  object: DeepReadonly<Pick<KubernetesObject, "metadata">>,
  owner: DeepReadonly<Pick<KubernetesObject, "metadata">>,
): boolean {
  const controller = getControllerOf(object);
  return controller !== undefined && controller.uid === owner.metadata.uid;
}

/** A controlling reference to `owner` that blocks its foreground deletion (apimachinery `metav1.NewControllerRef`). */
export function newControllerRef(
  owner: DeepReadonly<Pick<KubernetesObject, "metadata">>,
  type: { apiVersion: string; kind: string },
): OwnerReference {
  return {
    apiVersion: type.apiVersion,
    kind: type.kind,
    name: owner.metadata.name ?? "",
    uid: owner.metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
}

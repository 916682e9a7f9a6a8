import type { KubernetesObject, OwnerReference } from "./types.js";
import type { DeepReadonly } from "./readonly.js";

/** Returns the reference with `controller: true`, or `undefined` (apimachinery `metav1.GetControllerOf`). */
export function getControllerOf(
  object: DeepReadonly<Pick<KubernetesObject, "metadata">>,
): DeepReadonly<OwnerReference> | undefined {
  const references = object.metadata.ownerReferences;
  if (references !== undefined) for (const reference of references) if (reference.controller === true) return reference;
  return undefined;
}

/** Whether the given owner controls the object. Compares UIDs (apimachinery `metav1.IsControlledBy`). */
export function isControlledBy(
  object: DeepReadonly<Pick<KubernetesObject, "metadata">>,
  owner: DeepReadonly<Pick<KubernetesObject, "metadata">>,
): boolean {
  const controller = getControllerOf(object);
  return controller !== undefined && controller.uid === owner.metadata.uid;
}

/**
 * Returns a controller reference to `owner` that blocks its foreground deletion (apimachinery
 * `metav1.NewControllerRef`).
 *
 * @throws Error for an owner without a name or UID. Upstream does not check this; the API server rejects such a
 * reference.
 */
export function newControllerRef(
  owner: DeepReadonly<Pick<KubernetesObject, "metadata">>,
  type: { apiVersion: string; kind: string },
): OwnerReference {
  const { name, uid } = ownerIdentity(owner, type.kind);
  return { apiVersion: type.apiVersion, kind: type.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/**
 * Returns the name and UID of an owner, as ownerReferences need them.
 *
 * @throws Error naming the missing field.
 */
export function ownerIdentity(
  { metadata }: DeepReadonly<Pick<KubernetesObject, "metadata">>,
  kind: string,
): { name: string; uid: string } {
  const { name, namespace, uid } = metadata;
  const hint = "an owner has to be as the API server stored it";
  if (!name) throw new Error(`the ${kind} to be the owner has no name: ${hint}`);
  if (!uid) throw new Error(`${kind} ${namespace ? `${namespace}/` : ""}${name} has no UID: ${hint}`);
  return { name, uid };
}

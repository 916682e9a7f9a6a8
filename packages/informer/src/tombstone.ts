import type { DeepReadonly, KubernetesObject, ObjectKey } from "@kubewright/api";

/** Stands for an object whose deletion was missed: a list no longer contained it. `object` is its last known state. */
export interface DeletedFinalStateUnknown<T extends KubernetesObject> {
  readonly kind: "DeletedFinalStateUnknown";
  readonly key: ObjectKey;
  readonly object: DeepReadonly<T> | undefined;
}

export function isDeletedFinalStateUnknown<T extends KubernetesObject>(
  deleted: DeepReadonly<T> | DeletedFinalStateUnknown<T>,
): deleted is DeletedFinalStateUnknown<T> {
  return (deleted as { readonly kind?: unknown }).kind === "DeletedFinalStateUnknown";
}

/** Returns the object itself, whether or not its deletion was observed. */
export function deletedObject<T extends KubernetesObject>(
  deleted: DeepReadonly<T> | DeletedFinalStateUnknown<T>,
): DeepReadonly<T> | undefined {
  return isDeletedFinalStateUnknown(deleted) ? deleted.object : deleted;
}

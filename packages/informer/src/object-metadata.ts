import { type DeepReadonly, type KubernetesObject, type ObjectKey, type ObjectMeta, keyOf } from "@kubewright/api";

/** TypeScript cannot access members of `DeepReadonly<T>` while `T` is generic. These functions can. */
export function metadataOf<T extends KubernetesObject>(object: DeepReadonly<T>): DeepReadonly<ObjectMeta> {
  return (object as DeepReadonly<KubernetesObject>).metadata;
}

export function keyOfObject<T extends KubernetesObject>(object: DeepReadonly<T>): ObjectKey {
  return keyOf(object);
}

/** Returns `""` for an object without a resourceVersion. */
export function resourceVersionOf<T extends KubernetesObject>(object: DeepReadonly<T>): string {
  return metadataOf(object).resourceVersion ?? "";
}

import { type DeepReadonly, type KubernetesObject, type ObjectKey, type ObjectMeta, keyOf } from "@kubewright/api";

/** TypeScript does not look into `DeepReadonly<T>` while `T` is open; these do. */
export function metadataOf<T extends KubernetesObject>(object: DeepReadonly<T>): DeepReadonly<ObjectMeta> {
  return (object as DeepReadonly<KubernetesObject>).metadata;
}

export function keyOfObject<T extends KubernetesObject>(object: DeepReadonly<T>): ObjectKey {
  return keyOf(object);
}

/** `""` for an object that has none. */
export function resourceVersionOf<T extends KubernetesObject>(object: DeepReadonly<T>): string {
  return metadataOf(object).resourceVersion ?? "";
}

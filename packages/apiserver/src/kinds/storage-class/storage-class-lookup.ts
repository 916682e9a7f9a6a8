import type { KubernetesObject, PersistentVolume, PersistentVolumeClaim, StorageClass } from "@kubewright/api";

import type { ResourceStorage } from "../../storage/resource-storage.js";

/** The annotation that named the class before the field existed. */
export const CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";
const DEFAULT_ANNOTATIONS = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];

/**
 * Returns the class name of a claim or volume; `undefined` when none is named, `""` when none shall be used. Upstream:
 * `GetPersistentVolumeClaimClass`.
 */
export function storageClassNameOf({ metadata, spec }: PersistentVolumeClaim | PersistentVolume): string | undefined {
  return metadata.annotations?.[CLASS_ANNOTATION] ?? spec?.storageClassName;
}

/** Returns a warning about the annotation. */
export function classAnnotationWarnings({ metadata }: KubernetesObject): string[] {
  if (metadata.annotations?.[CLASS_ANNOTATION] === undefined) return [];
  return [`metadata.annotations[${CLASS_ANNOTATION}]: deprecated since v1.8; use "storageClassName" attribute instead`];
}

export function isDefaultClass({ metadata }: StorageClass): boolean {
  return DEFAULT_ANNOTATIONS.some((annotation) => metadata.annotations?.[annotation] === "true");
}

/** Returns the newest default class. Upstream: `util.GetDefaultClass`. */
export function defaultClass(classes: ResourceStorage): StorageClass | undefined {
  let found: StorageClass | undefined;
  for (const { object } of classes.list()) {
    const isYounger = (object.metadata.creationTimestamp ?? "") > (found?.metadata.creationTimestamp ?? "");
    if (isDefaultClass(object as StorageClass) && (found === undefined || isYounger)) found = object as StorageClass;
  }
  return found;
}

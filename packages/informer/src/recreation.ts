import type { DeepReadonly, KubernetesObject } from "@kubewright/api";

import { metadataOf } from "./object-metadata.js";

/**
 * Whether an update stands for a deletion and the creation of another object with the same name, both of which were
 * missed. For handlers with state per object.
 */
export function isRecreated<T extends KubernetesObject>(
  oldObject: DeepReadonly<T>,
  newObject: DeepReadonly<T>,
): boolean {
  return metadataOf(oldObject).uid !== metadataOf(newObject).uid;
}

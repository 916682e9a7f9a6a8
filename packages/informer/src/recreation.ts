import type { DeepReadonly, KubernetesObject } from "@kubewright/api";

import { metadataOf } from "./object-metadata.js";

/**
 * Whether an update stands for a deletion and the creation of another object under the same name, both of which were
 * missed: for handlers that keep something per object.
 */
export function isRecreated<T extends KubernetesObject>(
  oldObject: DeepReadonly<T>,
  newObject: DeepReadonly<T>,
): boolean {
  return metadataOf(oldObject).uid !== metadataOf(newObject).uid;
}

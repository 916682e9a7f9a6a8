import type { DeepReadonly, KubernetesObject } from "@kubewright/api";

import { metadataOf } from "./object-metadata.js";

/**
 * Returns the index values of an object; none if the object is not indexed. Must be pure: it is called once per object.
 */
export type IndexFunction<T extends KubernetesObject> = (object: DeepReadonly<T>) => readonly string[];

/** Index functions by the name of their index. */
export type Indexers<T extends KubernetesObject, Index extends string = string> = Readonly<
  Record<Index, IndexFunction<T>>
>;

/** The index that every shared informer has: objects by namespace, `""` for cluster-scoped ones. */
export const namespaceIndex = "namespace";
export type NamespaceIndex = typeof namespaceIndex;

export function namespaceIndexValues<T extends KubernetesObject>(object: DeepReadonly<T>): readonly string[] {
  return [metadataOf(object).namespace ?? ""];
}

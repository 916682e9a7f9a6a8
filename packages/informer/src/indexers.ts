import type { DeepReadonly, KubernetesObject } from "@kubewright/api";

import { metadataOf } from "./object-metadata.js";

/** The values an object is found under: none for one that is not to be indexed. Pure: it is called once per object. */
export type IndexFunction<T extends KubernetesObject> = (object: DeepReadonly<T>) => readonly string[];

/** Index functions by the name of their index. */
export type Indexers<T extends KubernetesObject, Index extends string = string> = Readonly<
  Record<Index, IndexFunction<T>>
>;

/** The index every shared informer has: objects by namespace, `""` for cluster-scoped ones. */
export const namespaceIndex = "namespace";
export type NamespaceIndex = typeof namespaceIndex;

export function namespaceIndexValues<T extends KubernetesObject>(object: DeepReadonly<T>): readonly string[] {
  return [metadataOf(object).namespace ?? ""];
}

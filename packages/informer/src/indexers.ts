import type { DeepReadonly, KubernetesObject } from "@kubewright/api";

import { metadataOf } from "./object-metadata.js";

/** The values an object is found under: none for one that is not to be indexed. Pure: it is called once per object. */
export type IndexFunction<T extends KubernetesObject> = (object: DeepReadonly<T>) => readonly string[];

/** Index functions by the name of their index. */
export type Indexers<T extends KubernetesObject> = Readonly<Record<string, IndexFunction<T>>>;

/** The index every shared informer has: objects by namespace, `""` for cluster-scoped ones. */
export const namespaceIndex = "namespace";

export function namespaceIndexValues<T extends KubernetesObject>(object: DeepReadonly<T>): readonly string[] {
  return [metadataOf(object).namespace ?? ""];
}

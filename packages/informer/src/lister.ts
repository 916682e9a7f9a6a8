import type { DeepReadonly, KubernetesObject, ObjectKey } from "@kubewright/api";

import type { NamespaceIndex } from "./indexers.js";

/**
 * Reads of a cache; never a request. All results are shared: copy before changing. Each call sees one consistent state.
 * Lists come in order of insertion, which nothing should rely on. `Index` are the names of its indexes.
 */
export interface Lister<T extends KubernetesObject, Index extends string = NamespaceIndex> {
  get(key: ObjectKey): DeepReadonly<T> | undefined;
  list(): DeepReadonly<T>[];
  /** `""` means all namespaces. Uses the namespace index if there is one, else looks at everything. */
  listNamespace(namespace: string): DeepReadonly<T>[];
  /** Objects for which the index function gave this value. @throws Error when there is no such index. */
  readonly byIndex: (indexName: Index, value: string) => DeepReadonly<T>[];
}

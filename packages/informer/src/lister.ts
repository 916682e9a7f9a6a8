import type { DeepReadonly, KubernetesObject, ObjectKey } from "@kubewright/api";

import type { NamespaceIndex } from "./indexers.js";

/**
 * Reads from a cache; never sends a request. All results are shared: copy them before changing them. Each call sees one
 * consistent state. Lists are in order of insertion, which callers should not depend on. `Index` is the union of the
 * index names.
 */
export interface Lister<T extends KubernetesObject, Index extends string = NamespaceIndex> {
  get(key: ObjectKey): DeepReadonly<T> | undefined;
  list(): DeepReadonly<T>[];
  /** `""` means all namespaces. Uses the namespace index if it exists, otherwise scans all objects. */
  listNamespace(namespace: string): DeepReadonly<T>[];
  /**
   * Returns the objects for which the index function returned this value. @throws Error if the index does not exist.
   */
  readonly byIndex: (indexName: Index, value: string) => DeepReadonly<T>[];
}

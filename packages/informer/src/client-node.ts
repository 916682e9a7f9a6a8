import type { KubeConfig, KubernetesObject } from "@kubernetes/client-node";

import { type CachingInformer, ListWatch, type ListWatchOptions } from "./list-watch.js";

/**
 * A replacement for the function of the same name in @kubernetes/client-node; see {@link ListWatch} for the
 * differences.
 *
 * @param path - Path of the collection, such as `/apis/batch/v1/namespaces/default/jobs`.
 * @param listFn - Never called: the informer lists by the path.
 * @throws Error when `path` is not the path of a collection.
 */
export function makeInformer<T extends KubernetesObject>(
  kubeConfig: KubeConfig,
  path: string,
  listFn?: unknown,
  labelSelector?: string,
  options: ListWatchOptions = {},
): CachingInformer<T> {
  return new ListWatch<T>(path, { config: kubeConfig }, listFn, false, labelSelector, undefined, options);
}

export { ListWatch } from "./list-watch.js";
export { withoutManagedFields } from "./transform.js";

export const ADD = "add";
export const UPDATE = "update";
export const CHANGE = "change";
export const DELETE = "delete";
export const CONNECT = "connect";
export const ERROR = "error";

export type { CachedObject, CachingInformer, ListWatchOptions } from "./list-watch.js";

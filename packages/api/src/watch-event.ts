import type { Status } from "./status.js";

/** One line of a watch stream. A bookmark's object carries only `metadata.resourceVersion` (and annotations). */
export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"; readonly object: T }
  | { readonly type: "ERROR"; readonly object: Status };

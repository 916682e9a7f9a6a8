import type { DeepReadonly, KubernetesObject } from "@kubewright/api";

import type { DeletedFinalStateUnknown } from "./tombstone.js";

/**
 * Receives the changes of a cache, synchronously and in order, right after the cache has changed. Handlers should only
 * record work (add keys to a queue), because the time they take delays all other handlers. Errors they throw are
 * reported. A returned promise is not awaited, but its rejection is reported.
 */
export interface EventHandler<T extends KubernetesObject> {
  /** `isInInitialList`: the object existed when the informer started, or when this handler was added. */
  onAdd?(object: DeepReadonly<T>, isInInitialList: boolean): void;
  /**
   * Equal resourceVersions: a resync, or a list that showed no change. Different UIDs: the old object was deleted and
   * another one was created with its name.
   */
  onUpdate?(oldObject: DeepReadonly<T>, newObject: DeepReadonly<T>): void;
  /**
   * Receives the object's state at its deletion, even if the cache did not contain it; a tombstone if the deletion was
   * not observed.
   */
  onDelete?(object: DeepReadonly<T> | DeletedFinalStateUnknown<T>): void;
}

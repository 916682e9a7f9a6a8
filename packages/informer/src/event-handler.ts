import type { DeepReadonly, KubernetesObject } from "@kubewright/api";

import type { DeletedFinalStateUnknown } from "./tombstone.js";

/**
 * Told about changes of a cache, synchronously and in order, right after the cache has changed. Handlers should only
 * note what to do (add keys to a queue): whatever they take delays everybody. What they throw is reported; if they return a
 * promise nobody waits for it, but its rejection is reported too.
 */
export interface EventHandler<T extends KubernetesObject> {
  /** `isInInitialList`: the object was there when the informer started, or when this handler was added. */
  onAdd?(object: DeepReadonly<T>, isInInitialList: boolean): void;
  /**
   * Equal resourceVersions: a resync, or a list that showed no change. Different UIDs: the old object was deleted and
   * another one created with its name.
   */
  onUpdate?(oldObject: DeepReadonly<T>, newObject: DeepReadonly<T>): void;
  /** The object as of its deletion, also when the cache did not have it; a tombstone when the deletion was not seen. */
  onDelete?(object: DeepReadonly<T> | DeletedFinalStateUnknown<T>): void;
}

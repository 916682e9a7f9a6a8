import type { DeepReadonly, KubernetesObject } from "@kubewright/api";

import type { EventHandler } from "./event-handler.js";
import { deletedObject } from "./tombstone.js";

/**
 * Passes to a handler only the objects that match `filter`. An object that begins to match is added. An object that
 * stops matching is deleted, with its last matching state.
 *
 * @see kubernetes v1.36 client-go tools/cache/controller.go FilteringResourceEventHandler
 */
export function filteringHandler<T extends KubernetesObject>(
  filter: (object: DeepReadonly<T>) => boolean,
  handler: EventHandler<T>,
): EventHandler<T> {
  return {
    onAdd(object, isInInitialList) {
      if (filter(object)) handler.onAdd?.(object, isInInitialList);
    },
    onUpdate(oldObject, newObject) {
      const passed = filter(oldObject);
      const passes = filter(newObject);
      if (passed && passes) handler.onUpdate?.(oldObject, newObject);
      else if (passes) handler.onAdd?.(newObject, false);
      else if (passed) handler.onDelete?.(oldObject);
    },
    onDelete(deleted) {
      const object = deletedObject(deleted);
      if (object === undefined || filter(object)) handler.onDelete?.(deleted);
    },
  };
}

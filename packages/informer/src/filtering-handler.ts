import type { DeepReadonly, KubernetesObject } from "@kubewright/api";

import type { EventHandler } from "./event-handler.js";
import { deletedObject } from "./tombstone.js";

/**
 * Shows a handler only the objects that pass `filter`. One that begins to pass is added, one that ceases to is deleted,
 * in its last passing state.
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

import { type DeepReadonly, type KubernetesObject, type ObjectKey, type ResourceDefinition } from "@kubewright/api";
import { getControllerOf, keyOf, objectKey } from "@kubewright/api";
import { type EventHandler, deletedObject, isDeletedFinalStateUnknown } from "@kubewright/informer";

/** Accepts keys: a work queue. */
export interface KeySink {
  add(key: ObjectKey): void;
}

/**
 * Enqueues the key of every object that is added, updated or deleted.
 *
 * Upstream: controller-runtime pkg/handler `EnqueueRequestForObject`.
 */
export function enqueueObject<T extends KubernetesObject>(queue: KeySink): EventHandler<T> {
  return {
    onAdd: (object) => queue.add(keyOf(object)),
    onUpdate: (_old, object) => queue.add(keyOf(object)),
    onDelete: (deleted) => queue.add(isDeletedFinalStateUnknown(deleted) ? deleted.key : keyOf(deleted)),
  };
}

/**
 * Enqueues the controller of every object that is added, updated or deleted, if the controller has the given type. An
 * update that changes the controllerRef enqueues both controllers. Owner types are compared by group and kind only,
 * because the version may differ.
 *
 * Upstream: controller-runtime pkg/handler `EnqueueRequestForOwner` with `OnlyControllerOwner`.
 */
export function enqueueController<T extends KubernetesObject>(
  queue: KeySink,
  { group, kind, namespaced }: ResourceDefinition,
): EventHandler<T> {
  const enqueue = (object: DeepReadonly<KubernetesObject> | undefined): void => {
    const controller = object && getControllerOf(object);
    if (controller?.kind !== kind || groupOf(controller.apiVersion) !== group) return;
    queue.add(objectKey({ namespace: namespaced ? object!.metadata.namespace : undefined, name: controller.name }));
  };
  return {
    onAdd: enqueue,
    onUpdate: (old, object) => {
      if (getControllerOf(old)?.uid !== getControllerOf(object)?.uid) enqueue(old);
      enqueue(object);
    },
    onDelete: (deleted) => enqueue(deletedObject(deleted)),
  };
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}

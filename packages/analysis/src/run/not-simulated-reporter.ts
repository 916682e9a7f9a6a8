import { type DeepReadonly, type KubernetesObject, type ObjectKey, getControllerOf, keyOf } from "@kubewright/api";
import { type ControllerDeps, ControllerShell, type Runnable } from "@kubewright/controller";

import { type NotSimulatedKind, notSimulatedKinds } from "./not-simulated.js";

/**
 * Time that other controllers have to act on an object before the event is written, in milliseconds of the cluster's
 * clock.
 */
export const CONTROLLER_GRACE_MS = 1_000;

/**
 * Writes one event for each object of a kind without a controller in the cluster. A user who waits for the pods of a
 * Deployment then finds the reason with `kubectl describe`.
 *
 * Writes no event for these objects:
 *
 * - objects with a controller owner
 * - objects whose status has been written within a second of their creation
 * - objects of the initial list
 */
export function notSimulatedReporter(deps: ControllerDeps): Runnable {
  const shell = new ControllerShell(deps, { name: "kubewright" });
  for (const kind of notSimulatedKinds()) reportKind(shell, kind);
  return shell;
}

function reportKind(shell: ControllerShell, { definition, consequence }: NotSimulatedKind): void {
  const { kind, resource } = definition;
  const informer = shell.informer(definition);
  const queue = shell.addLoop<ObjectKey>({
    queue: `not-simulated-${resource}`,
    async reconcile(key) {
      const object = informer.store.get(key);
      if (object === undefined || hasController(object)) return {};
      const message = `No controller of this cluster acts on a ${kind}: ${consequence}, unless a controller that you run does so`;
      shell.events.event(object, definition, "Normal", "NotSimulated", message);
      return {};
    },
  });
  informer.addEventHandler({
    onAdd: (object, isInInitialList) => {
      if (!isInInitialList) queue.addAfter(keyOf(object), CONTROLLER_GRACE_MS);
    },
  });
}

function hasController(object: DeepReadonly<KubernetesObject>): boolean {
  const { managedFields } = object.metadata;
  return (
    getControllerOf(object) !== undefined ||
    (managedFields?.some(({ subresource }) => subresource === "status") ?? false)
  );
}

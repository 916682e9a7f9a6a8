import { type DeepReadonly, type KubernetesObject, type ObjectKey, getControllerOf, keyOf } from "@kubewright/api";
import { type ControllerDeps, ControllerShell, type Runnable } from "@kubewright/controller";

import { type NotSimulatedKind, notSimulatedKinds } from "./not-simulated.js";

/** How long others have to act on an object, by the cluster's clock, before it is said that nobody does. Milliseconds. */
export const CONTROLLER_GRACE_MS = 1_000;

/**
 * Tells by one event of each object that none of the cluster's controllers acts on what it is, so that whoever waits for
 * pods of a Deployment finds out with `kubectl describe`. Says nothing of objects that a controller made, whose status
 * anybody has written within a second, or that were there at the start.
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

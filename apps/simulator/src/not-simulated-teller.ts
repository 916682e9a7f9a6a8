import { type DeepReadonly, type KubernetesObject, type ObjectKey, getControllerOf, keyOf } from "@kubewright/api";
import { type ControllerDeps, ControllerShell, type Runnable } from "@kubewright/controller";

import { type NotSimulated, notSimulatedKinds } from "./not-simulated.js";

/** How long others have to act on an object, by the cluster's clock, before it is said that nobody does. Milliseconds. */
export const OTHERS_ACT_WITHIN_MS = 1_000;

/**
 * Tells by one event of each object that none of the cluster's controllers acts on what it is, so that whoever waits for
 * pods of a Deployment finds out with `kubectl describe`. Says nothing of objects that a controller made, whose status
 * anybody has written within a second, or that were there at the start.
 */
export function notSimulatedTeller(deps: ControllerDeps): Runnable {
  const shell = new ControllerShell(deps, { name: "kubewright" });
  for (const kind of notSimulatedKinds()) tell(shell, kind);
  return shell;
}

function tell(shell: ControllerShell, { definition, lacks }: NotSimulated): void {
  const { kind, resource } = definition;
  const informer = shell.informer(definition);
  const queue = shell.addLoop<ObjectKey>({
    queue: `not-simulated-${resource}`,
    async reconcile(key) {
      const object = informer.store.get(key);
      if (object === undefined || isActedOn(object)) return {};
      const message = `No controller of this cluster acts on a ${kind}: ${lacks}, unless a controller that you run does so`;
      shell.events.event(object, definition, "Normal", "NotSimulated", message);
      return {};
    },
  });
  informer.addEventHandler({
    onAdd: (object, wasThere) => {
      if (!wasThere) queue.addAfter(keyOf(object), OTHERS_ACT_WITHIN_MS);
    },
  });
}

function isActedOn(object: DeepReadonly<KubernetesObject>): boolean {
  const { managedFields } = object.metadata;
  return (
    getControllerOf(object) !== undefined ||
    (managedFields?.some(({ subresource }) => subresource === "status") ?? false)
  );
}

import { type DeepReadonly, type Pod, pods } from "@kubewright/api";
import { isPodTerminal } from "@kubewright/controller";

import type { EventRun } from "../faults/event-definition.js";

/** Returns the pods that have not ended and are not being deleted: the oldest first, by name within the same second. */
export function runningPods({ cluster }: EventRun): DeepReadonly<Pod>[] {
  const age = ({ metadata }: DeepReadonly<Pod>): string =>
    `${metadata.creationTimestamp} ${metadata.namespace}/${metadata.name}`;
  return cluster.informers
    .informerFor(pods)
    .store.list()
    .filter((pod) => !isPodTerminal(pod) && pod.metadata.deletionTimestamp === undefined)
    .sort((a, b) => (age(a) < age(b) ? -1 : 1));
}

export function evict({ metadata: { name = "", namespace } }: DeepReadonly<Pod>, { user }: EventRun): Promise<unknown> {
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } };
  return user.resource(pods).createSubresource(name, "eviction", eviction, { namespace });
}

import { type DeepReadonly, type OwnerReference, getControllerOf } from "@kubewright/api";

import type { ObservedRequest, Stored } from "../world.js";

/** Resources as {@link World} names them. */
export const JOBS = "jobs.batch";
export const CRON_JOBS = "cronjobs.batch";
export const PODS = "pods";
export const NODES = "nodes";

export const JOB_CONTROLLER = "job-controller";
export const CRON_JOB_CONTROLLER = "cronjob-controller";
export const TTL_CONTROLLER = "ttl-after-finished-controller";
export const POD_GC_CONTROLLER = "pod-garbage-collector-controller";
export const GARBAGE_COLLECTOR = "garbage-collector-controller";

/** Components and users of a cluster that are no controllers. */
const NO_CONTROLLERS: ReadonlySet<string> = new Set([
  "",
  "kubelet",
  "scheduler",
  "user",
  "kubectl",
  "sharding",
  "informers",
]);

/** Components of the cluster, whose writes have their own invariants: their changes are not user changes. */
const OF_THE_CLUSTER: ReadonlySet<string> = new Set([
  "",
  "kubelet",
  "scheduler",
  JOB_CONTROLLER,
  CRON_JOB_CONTROLLER,
  TTL_CONTROLLER,
  POD_GC_CONTROLLER,
  GARBAGE_COLLECTOR,
  "node-lifecycle-controller",
  "sharding",
  "informers",
]);

/** Reports whether a controller sends the request, and not a node, the scheduler or a user. */
export function isFromController({ component }: Pick<ObservedRequest, "component">): boolean {
  return !NO_CONTROLLERS.has(component) && !isFromElection({ component });
}

/** Reports whether the request belongs to leader election. */
export function isFromElection({ component }: Pick<ObservedRequest, "component">): boolean {
  return component.startsWith("election");
}

/** Reports whether a client outside of the cluster sends the request. */
export function isFromUser(request: Pick<ObservedRequest, "component"> | undefined): boolean {
  return request !== undefined && !OF_THE_CLUSTER.has(request.component);
}

/** Returns the key of one incarnation of a component; its memory and its caches end with it. */
export function incarnationKeyOf({
  component,
  process,
  incarnation,
}: Pick<ObservedRequest, "component" | "process" | "incarnation">): string {
  return `${component} ${process} ${incarnation}`;
}

/** Returns an object's kind and name for messages: `Job default/pi`. */
export function nameOf({ kind, metadata }: Stored, resource = ""): string {
  const name = metadata.namespace === undefined ? `${metadata.name}` : `${metadata.namespace}/${metadata.name}`;
  return `${kind ?? resource} ${name}`;
}

export function uidOf({ metadata }: Stored): string {
  return metadata.uid ?? "";
}

export function isBeingDeleted({ metadata }: Stored): boolean {
  return metadata.deletionTimestamp != null;
}

/** Returns the controller reference of an object, if it has that kind. */
export function ownerOfKind(object: Stored, kind: string): DeepReadonly<OwnerReference> | undefined {
  const owner = getControllerOf(object);
  return owner?.kind === kind ? owner : undefined;
}

import {
  type KubernetesObject,
  type Pod,
  type UnstructuredObject,
  cronJobs,
  jobs,
  mutableCopy,
  namespaces,
  parseTime,
  pods,
} from "@kubewright/api";
import { type NodeShape, type StoreSnapshot, defaultNodes } from "@kubewright/cluster";

import type { Manifest } from "./manifest.js";

/** The state of an exported cluster, with which a simulation can begin. */
export interface LiveState {
  readonly snapshot: StoreSnapshot;
  /** The nodes of the exported pods. They accept no other pods. */
  readonly nodes: readonly NodeShape[];
  /** The newest time in any object, in epoch milliseconds: the export is not older. */
  readonly newestMs: number;
  /** One line each. */
  readonly notes: readonly string[];
}

/** Kinds that continue from their exported state; other kinds are created again. */
const LIVE = [cronJobs, jobs, pods];

/** Whether an object was exported from a cluster, with its status, instead of written by a user. */
export function isLive({ apiVersion, kind, metadata }: UnstructuredObject): boolean {
  return (
    metadata.uid !== undefined &&
    metadata.creationTimestamp !== undefined &&
    LIVE.some((definition) => definition.kind === kind && apiVersionOf(definition) === apiVersion)
  );
}

/**
 * Returns the state of the live objects. Owner references to objects outside the export are removed, so that the
 * garbage collector keeps their dependents.
 */
export function liveState(manifests: readonly Manifest[]): LiveState | undefined {
  const live = manifests.map(({ object }) => object).filter(isLive);
  if (live.length === 0) return undefined;
  const uids = new Set(live.map(({ metadata }) => metadata.uid));
  const objects: Record<string, KubernetesObject[]> = {};
  let version = FIRST_VERSION;
  let orphans = 0;
  for (const { group, resource, kind } of LIVE) {
    const key = `${group}/${resource}`;
    for (const object of live.filter((each) => each.kind === kind)) {
      const copy = mutableCopy(object) as unknown as KubernetesObject;
      const owners = copy.metadata.ownerReferences ?? [];
      const present = owners.filter(({ uid }) => uids.has(uid));
      if (present.length < owners.length) orphans++;
      if (present.length > 0) copy.metadata.ownerReferences = present;
      else delete copy.metadata.ownerReferences;
      delete copy.metadata.managedFields;
      copy.metadata.namespace ??= "default";
      copy.metadata.resourceVersion = String(++version);
      (objects[key] ??= []).push(copy);
    }
  }
  const names = [...new Set(live.map(({ metadata }) => metadata.namespace ?? "default"))].sort();
  objects[`/${namespaces.resource}`] = names.map((name) => namespaceObject(name, live, String(++version)));
  return {
    snapshot: { resourceVersion: String(version), objects },
    nodes: nodesOf(live),
    newestMs: newestTime(live),
    notes:
      orphans === 0
        ? []
        : [
            `${orphans} ${orphans === 1 ? "object has an owner" : "objects have owners"} outside of the export; they are simulated without them`,
          ],
  };
}

const FIRST_VERSION = 100;

function namespaceObject(name: string, live: readonly UnstructuredObject[], resourceVersion: string): KubernetesObject {
  const first = live.find(({ metadata }) => (metadata.namespace ?? "default") === name)!;
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name,
      // The namespace's UID is not part of the export; any constant UID works.
      uid: `namespace-of-${first.metadata.uid}`,
      creationTimestamp: first.metadata.creationTimestamp,
      labels: { "kubernetes.io/metadata.name": name },
      resourceVersion,
    },
    spec: { finalizers: ["kubernetes"] },
    status: { phase: "Active" },
  } as KubernetesObject;
}

/** Returns nodes for the exported pods, closed to others because their free resources are unknown. */
function nodesOf(live: readonly UnstructuredObject[]): NodeShape[] {
  const names = new Set<string>();
  for (const object of live)
    if (object.kind === "Pod") {
      const { nodeName } = (object as unknown as Pod).spec ?? {};
      if (nodeName) names.add(nodeName);
    }
  return [...names].sort().map((name) => ({
    ...defaultNodes[0]!,
    name,
    taints: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }],
  }));
}

/** Returns the latest time of all fields whose names end in `Time`, `Timestamp` or `At`. */
function newestTime(value: unknown): number {
  if (typeof value !== "object" || value === null) return Number.NEGATIVE_INFINITY;
  let newest = Number.NEGATIVE_INFINITY;
  for (const [name, member] of Object.entries(value)) {
    const timeMs =
      typeof member === "string" && /(Time|Timestamp|At)$/.test(name) ? parseTime(member) : newestTime(member);
    if (timeMs !== undefined && timeMs > newest) newest = timeMs;
  }
  return newest;
}

function apiVersionOf({ group, version }: { group: string; version: string }): string {
  return group === "" ? version : `${group}/${version}`;
}

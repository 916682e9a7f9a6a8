import type { OwnerReference, UnstructuredObject } from "@kubewright/api";

import type { ScenarioEventEntry } from "../faults/registry.js";
import type { Draw } from "./draw.js";
import { at } from "./plan-events.js";
import { uidPlaceholder } from "../owner-uids.js";
import type { Swarm } from "./swarm.js";
import type { Subject } from "./workload.js";

export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Draws ConfigMaps that a Job owns:
 *
 * - a chain or a cycle of owners,
 * - a copy in another namespace,
 * - a changed owner,
 * - an object that owns its owner,
 * - a cluster-scoped object with a namespaced owner.
 *
 * All of them are applied, because an owner has to exist before its UID can be named.
 */
export function drawOwnership(draw: Draw, swarm: Swarm, subjects: readonly Subject[]): readonly ScenarioEventEntry[] {
  const jobs = subjects.filter(({ kind }) => kind === "Job");
  if (!swarm.has("ownership") || jobs.length === 0) return [];
  const job = draw.fork("owner").pick(jobs);
  const { namespace } = job;
  const owner = jobOwner(job);
  const other = namespace === "default" ? "second" : "default";
  const child = configMap(namespace, "child", [owner]);
  const entries: ScenarioEventEntry[] = [at(0, { apply: child })];
  if (draw.fork("chain").chance(0.4))
    entries.push(at(0, { apply: configMap(namespace, "grandchild", [configMapOwner(namespace, "child")]) }));
  if (draw.fork("circle").chance(0.4))
    entries.push(
      at(0, { apply: configMap(namespace, "circle-a", [owner]) }),
      at(0, { apply: configMap(namespace, "circle-b", [configMapOwner(namespace, "circle-a")]) }),
      at(0, { apply: configMap(namespace, "circle-a", [owner, configMapOwner(namespace, "circle-b")]) }),
    );
  const laterMs = (name: string): number =>
    draw.fork(name).pick(job.moments) + draw.fork(`${name} after`).integer(0, 3_000);
  // As a backup or sync tool does: the owner's UID is right, the namespace is not.
  if (swarm.has("secondNamespace") && draw.fork("copy").chance(0.5))
    entries.push(at(laterMs("copied"), { apply: configMap(other, "child", [owner]) }));
  // A namespaced owner of a cluster-scoped object is invalid: such an object stays.
  if (draw.fork("without namespace").chance(0.3))
    entries.push(at(laterMs("without namespace"), { apply: priorityClass([owner]) }));
  // On deletion, each waits for the other.
  if (draw.fork("owns its owner").chance(0.4)) {
    const { manifest } = job;
    const metadata = { ...manifest.metadata, ownerReferences: [referenceTo(configMapOwner(namespace, "child"))] };
    entries.push(at(0, { apply: { ...manifest, metadata } }));
  }
  const heir = jobs.find((candidate) => candidate.namespace === namespace && candidate.name !== job.name);
  // With two owners the object stays when one of them is deleted.
  if (heir !== undefined && draw.fork("shared").chance(0.5))
    entries.push(at(0, { apply: configMap(namespace, "shared", [owner, jobOwner(heir)]) }));
  if (heir !== undefined && draw.fork("move").chance(0.5))
    entries.push(at(laterMs("moved"), { apply: configMap(namespace, "child", [jobOwner(heir)]) }));
  return entries;
}

/** Returns a Job as an owner. */
export function jobOwner({ namespace, name }: Pick<Subject, "namespace" | "name">): Owner {
  return { apiVersion: "batch/v1", kind: "Job", namespace, name };
}

export function configMapOwner(namespace: string, name: string): Owner {
  return { apiVersion: "v1", kind: "ConfigMap", namespace, name };
}

export function configMap(namespace: string, name: string, owners: readonly Owner[]): UnstructuredObject {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace, ownerReferences: owners.map(referenceTo) },
  };
}

function priorityClass(owners: readonly Owner[]): UnstructuredObject {
  return {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name: "owned", ownerReferences: owners.map(referenceTo) },
    value: 1,
  };
}

export function referenceTo(owner: Owner): OwnerReference {
  const { apiVersion, kind, name } = owner;
  return { apiVersion, kind, name, uid: uidPlaceholder(owner), blockOwnerDeletion: true };
}

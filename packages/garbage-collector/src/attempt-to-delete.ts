import { FOREGROUND_DELETION_FINALIZER } from "@kubewright/api";
import { isNotFound } from "@kubewright/client";

import type { AbsentOwners } from "./absent-owners.js";
import type { GarbageDecision } from "./decision.js";
import type { DependencyGraph } from "./dependency-graph.js";
import type { GraphNode } from "./graph-node.js";
import { type ClassifiedReferences, classifyOwner, planItem } from "./item-plan.js";
import type { LiveObjects } from "./live-objects.js";
import { type Metadata, type ObjectIdentity, type Reference, identityOfOwner } from "./object-identity.js";
import {
  deleteReferencesMergePatch,
  deleteReferencesStrategicPatch,
  unblockReferencesMergePatch,
  unblockReferencesStrategicPatch,
} from "./patches.js";

export interface CollectDeps {
  readonly graph: DependencyGraph;
  readonly absentOwners: AbsentOwners;
  readonly live: LiveObjects;
  /** Enqueues another object. */
  readonly enqueue: (node: GraphNode) => void;
  readonly onDecision: (
    object: ObjectIdentity,
    decision: Pick<GarbageDecision, "action" | "propagationPolicy" | "reason">,
  ) => void;
}

/**
 * Processes one object: checks whether it exists, whether its owners keep it, or whether its own foreground deletion
 * can end.
 *
 * All data is read live from the API server, because the graph may lag. A deletion has preconditions on the UID and
 * resourceVersion of the object that was read.
 *
 * @returns `gone` when the object does not exist and was removed from the graph.
 * @throws NamespacedOwnerError when the object's owners can never be looked up; otherwise any rejected request, which
 * is retried.
 * @see kubernetes v1.36 pkg/controller/garbagecollector/garbagecollector.go attemptToDeleteItem
 */
export async function attemptToDeleteItem(
  node: GraphNode,
  deps: CollectDeps,
  signal: AbortSignal,
): Promise<"gone" | "done"> {
  // The object is already being deleted; its dependents are processed after the deletion.
  if (node.beingDeleted && !node.deletingDependents) return "done";
  // The graph may change the identity of a virtual node during the requests.
  const { identity } = node;
  const live = await getIfExists(identity, deps, signal);
  if (live?.uid !== identity.uid) {
    deps.graph.removeAbsent(identity);
    return "gone";
  }
  if (node.deletingDependents) {
    await processDeletingDependents(node, deps, signal);
    return "done";
  }
  const references = live.ownerReferences ?? [];
  if (references.length === 0) return "done";
  const classified = await classifyReferences(identity, references, deps, signal);
  const plan = planItem(classified, live, node.dependents);
  switch (plan.action) {
    case "keep":
      return "done";
    case "removeReferences": {
      const { ownerUids, reason } = plan;
      const strategic = deleteReferencesStrategicPatch(identity.uid, ownerUids);
      const merge = (known: Metadata): object => deleteReferencesMergePatch(known, ownerUids);
      await deps.live.patch(identity, { strategic, merge }, signal);
      deps.onDecision(identity, { action: "referencesRemoved", reason });
      return "done";
    }
    case "delete": {
      if (plan.unblockOwners) {
        const { owners } = node;
        const strategic = unblockReferencesStrategicPatch(identity.uid, owners);
        const merge = (known: Metadata): object => unblockReferencesMergePatch(known, owners);
        await deps.live.patch(identity, { strategic, merge }, signal);
      }
      const { propagationPolicy, reason } = plan;
      try {
        await deps.live.delete(identity, live, propagationPolicy, signal);
      } catch (error) {
        if (!isNotFound(error)) throw error;
        deps.graph.removeAbsent(identity);
        return "gone";
      }
      deps.onDecision(identity, { action: "deleted", propagationPolicy, reason });
      return "done";
    }
    default:
      return plan satisfies never;
  }
}

async function getIfExists(
  identity: ObjectIdentity,
  { live }: CollectDeps,
  signal: AbortSignal,
): Promise<Metadata | undefined> {
  try {
    return await live.get(identity, signal);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Ends a foreground deletion that no dependent blocks any more; otherwise enqueues the blocking dependents. */
async function processDeletingDependents(node: GraphNode, deps: CollectDeps, signal: AbortSignal): Promise<void> {
  if (node.isBlocked) {
    for (const dependent of node.dependents)
      if (node.isBlockedBy(dependent) && !dependent.deletingDependents) deps.enqueue(dependent);
    return;
  }
  const { identity } = node;
  await deps.live.removeFinalizer(identity, FOREGROUND_DELETION_FINALIZER, signal);
  deps.onDecision(identity, { action: "released", reason: "no dependent blocks its deletion any more" });
}

/** Classifies the references one after the other, so that an absent owner is requested only once. */
async function classifyReferences(
  dependent: ObjectIdentity,
  references: readonly Reference[],
  deps: CollectDeps,
  signal: AbortSignal,
): Promise<ClassifiedReferences> {
  const classified: Record<keyof ClassifiedReferences, Reference[]> = { solid: [], dangling: [], waiting: [] };
  for (const reference of references) {
    const owner = await findOwner(dependent, reference, deps, signal);
    classified[owner === undefined ? "dangling" : classifyOwner(owner)].push(reference);
  }
  return classified;
}

/**
 * Returns the owner if it exists, in the dependent's namespace or cluster-scoped.
 *
 * @throws UnknownTypeError, because an owner of unknown type may exist; NamespacedOwnerError.
 * @see kubernetes v1.36 pkg/controller/garbagecollector/garbagecollector.go isDangling
 */
async function findOwner(
  dependent: ObjectIdentity,
  reference: Reference,
  { absentOwners, live }: CollectDeps,
  signal: AbortSignal,
): Promise<Metadata | undefined> {
  const clusterScoped = identityOfOwner(reference, "");
  const namespaced = identityOfOwner(reference, dependent.namespace);
  if (absentOwners.has(clusterScoped) || absentOwners.has(namespaced)) return undefined;
  const identity = live.resourceOf(reference).namespaced ? namespaced : clusterScoped;
  let owner: Metadata | undefined;
  try {
    owner = await live.get(identity, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  if (owner?.uid === reference.uid) return owner;
  absentOwners.add(identity);
  return undefined;
}

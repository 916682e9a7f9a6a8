import { ORPHAN_FINALIZER } from "@kubewright/api";
import { errorMessage, isNotFound } from "@kubewright/client";

import type { CollectDeps } from "./attempt-to-delete.js";
import type { GraphNode } from "./graph-node.js";
import { type Metadata, type ObjectIdentity, describeIdentity } from "./object-identity.js";
import { deleteReferencesMergePatch, deleteReferencesStrategicPatch } from "./patches.js";

/**
 * Removes the references of the dependents that the graph contains now, then the owner's finalizer. A later dependent
 * finds its owner gone and is collected.
 *
 * @throws Error when a reference could not be removed; the owner then keeps its finalizer.
 * @see kubernetes v1.36 pkg/controller/garbagecollector/garbagecollector.go attemptToOrphanWorker
 */
export async function attemptToOrphan(owner: GraphNode, deps: CollectDeps, signal: AbortSignal): Promise<void> {
  const { identity } = owner;
  try {
    await orphanDependents(owner, deps, signal);
  } catch (error) {
    throw failed("orphanDependents", identity, error);
  }
  try {
    await deps.live.removeFinalizer(identity, ORPHAN_FINALIZER, signal);
  } catch (error) {
    throw failed("removeOrphanFinalizer", identity, error);
  }
  deps.onDecision(identity, { action: "released", reason: "the references of its dependents were removed" });
}

async function orphanDependents(owner: GraphNode, deps: CollectDeps, signal: AbortSignal): Promise<void> {
  const { identity } = owner;
  const merge = (known: Metadata): object => deleteReferencesMergePatch(known, [identity.uid]);
  const failures: string[] = [];
  const removeReference = async ({ identity: dependent }: GraphNode): Promise<void> => {
    const strategic = deleteReferencesStrategicPatch(dependent.uid, [identity.uid]);
    try {
      await deps.live.patch(dependent, { strategic, merge }, signal);
    } catch (error) {
      if (!isNotFound(error)) failures.push(`orphaning ${describeIdentity(dependent)} failed, ${errorMessage(error)}`);
      return;
    }
    const reason = `owner ${identity.kind} ${identity.name} is being deleted and orphans its dependents`;
    deps.onDecision(dependent, { action: "referencesRemoved", reason });
  };
  await Promise.all(Array.from(owner.dependents, removeReference));
  if (failures.length === 0) return;
  const errors = failures.length === 1 ? failures[0] : `[${failures.join(", ")}]`;
  throw new Error(`failed to orphan dependents of owner ${describeIdentity(identity)}, got errors: ${errors}`);
}

function failed(step: string, owner: ObjectIdentity, error: unknown): Error {
  return new Error(`${step} for ${describeIdentity(owner)} failed with ${errorMessage(error)}`, { cause: error });
}

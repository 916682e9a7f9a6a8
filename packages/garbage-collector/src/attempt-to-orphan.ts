import { ORPHAN_FINALIZER } from "@kubewright/api";
import { errorMessage, isNotFound } from "@kubewright/client";

import type { CollectDeps } from "./attempt-to-delete.js";
import type { GraphNode } from "./graph-node.js";
import { type Metadata, describeIdentity } from "./object-identity.js";
import { deleteReferencesMergePatch, deleteReferencesStrategicPatch } from "./patches.js";

/**
 * Lets go of the dependents that the graph knows now, then of the owner. One that comes later finds its owner gone, and is
 * collected.
 *
 * @throws when one of them could not be let go; the owner then stays.
 * @see kubernetes v1.36 pkg/controller/garbagecollector/garbagecollector.go attemptToOrphanWorker, orphanDependents
 */
export async function orphanDependents(owner: GraphNode, deps: CollectDeps, signal: AbortSignal): Promise<void> {
  const { identity } = owner;
  const merge = (latest: Metadata): object => deleteReferencesMergePatch(latest, [identity.uid]);
  const failures: unknown[] = [];
  const letGo = async ({ identity: dependent }: GraphNode): Promise<void> => {
    const strategic = deleteReferencesStrategicPatch(dependent.uid, [identity.uid]);
    try {
      await deps.live.patch(dependent, { strategic, merge }, signal);
    } catch (error) {
      if (!isNotFound(error)) failures.push(error);
      return;
    }
    const reason = `owner ${identity.kind} ${identity.name} is being deleted and orphans its dependents`;
    deps.decided(dependent, { action: "referencesRemoved", reason });
  };
  await Promise.all(Array.from(owner.dependents, letGo));
  if (failures.length > 0) {
    const messages = failures.map(errorMessage).join(", ");
    throw new AggregateError(
      failures,
      `failed to orphan dependents of owner ${describeIdentity(identity)}, got errors: ${messages}`,
    );
  }
  await deps.live.removeFinalizer(identity, ORPHAN_FINALIZER, signal);
  deps.decided(identity, { action: "released", reason: "its dependents were let go" });
}

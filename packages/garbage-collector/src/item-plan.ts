import { FOREGROUND_DELETION_FINALIZER, ORPHAN_FINALIZER } from "@kubewright/api";

import type { Metadata, Reference } from "./object-identity.js";

/** The owner references of an object by the state of the owner. */
export interface ClassifiedReferences {
  /** The owner exists and keeps the object alive. */
  readonly solid: readonly Reference[];
  /** The owner does not exist. */
  readonly dangling: readonly Reference[];
  /** The owner is in foreground deletion: it waits for the deletion of this object. */
  readonly waiting: readonly Reference[];
}

/** The action for an object, and its reason. */
export type ItemPlan =
  | { readonly action: "keep"; readonly reason: string }
  | { readonly action: "removeReferences"; readonly ownerUids: readonly string[]; readonly reason: string }
  | {
      readonly action: "delete";
      readonly propagationPolicy: "Background" | "Foreground" | "Orphan";
      /** Unblock the owners first: the owners and this object may wait for each other. */
      readonly unblockOwners: boolean;
      readonly reason: string;
    };

/** Returns whether an existing owner keeps its dependents (`solid`) or waits for their deletion (`waiting`). */
export function classifyOwner({ deletionTimestamp, finalizers }: Metadata): "solid" | "waiting" {
  return deletionTimestamp && finalizers?.includes(FOREGROUND_DELETION_FINALIZER) ? "waiting" : "solid";
}

/**
 * Decides about one object with owners.
 *
 * One solid owner keeps the object. References to the other owners are then removed, which also unblocks a waiting
 * owner. Without a solid owner the object is deleted; if an owner waits for it, the object's own dependents are deleted
 * first.
 *
 * @param object - The live object.
 * @param dependents - The object's own dependents in the graph.
 * @see kubernetes v1.36 pkg/controller/garbagecollector/garbagecollector.go attemptToDeleteItem
 */
export function planItem(
  { solid, dangling, waiting }: ClassifiedReferences,
  object: Metadata,
  dependents: Iterable<{ readonly deletingDependents: boolean }>,
): ItemPlan {
  if (solid.length > 0) {
    const others = [...dangling, ...waiting];
    if (others.length === 0) return { action: "keep", reason: `${ownersText(solid)} still there` };
    return {
      action: "removeReferences",
      ownerUids: others.map(({ uid }) => uid),
      reason: `${ownersText(solid)} still there, but ${otherOwnersText(dangling, waiting)}`,
    };
  }
  const reason = otherOwnersText(dangling, waiting);
  if (waiting.length > 0) {
    let hasDependents = false;
    let mayBeCycle = false;
    for (const { deletingDependents } of dependents) {
      hasDependents = true;
      if (deletingDependents) mayBeCycle = true;
    }
    if (hasDependents) return { action: "delete", propagationPolicy: "Foreground", unblockOwners: mayBeCycle, reason };
  }
  return { action: "delete", propagationPolicy: policyOf(object), unblockOwners: false, reason };
}

/** Returns the propagation policy that an earlier deletion request set for the object. */
function policyOf({ finalizers = [] }: Metadata): "Background" | "Foreground" | "Orphan" {
  if (finalizers.includes(ORPHAN_FINALIZER)) return "Orphan";
  return finalizers.includes(FOREGROUND_DELETION_FINALIZER) ? "Foreground" : "Background";
}

function otherOwnersText(dangling: readonly Reference[], waiting: readonly Reference[]): string {
  const reasons: string[] = [];
  if (dangling.length > 0) reasons.push(`${ownersText(dangling)} gone`);
  if (waiting.length > 0) reasons.push(`${ownersText(waiting)} being deleted in the foreground`);
  return reasons.join(", ");
}

function ownersText(references: readonly Reference[]): string {
  const names = references.map(({ kind, name }) => `${kind} ${name}`);
  return `${names.length === 1 ? "owner" : "owners"} ${names.join(", ")} ${names.length === 1 ? "is" : "are"}`;
}

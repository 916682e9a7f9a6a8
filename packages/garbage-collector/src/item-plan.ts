import { FOREGROUND_DELETION_FINALIZER, ORPHAN_FINALIZER } from "@kubewright/api";

import type { Metadata, Reference } from "./object-identity.js";

/** The owners an object refers to, by what they are to it. */
export interface ClassifiedReferences {
  /** The owner exists and keeps it alive. */
  readonly solid: readonly Reference[];
  /** There is no such owner. */
  readonly dangling: readonly Reference[];
  /** The owner is being deleted in the foreground: it waits for this object to go. */
  readonly waiting: readonly Reference[];
}

/** What to do about an object, and why. */
export type ItemPlan =
  | { readonly action: "keep"; readonly reason: string }
  | { readonly action: "removeReferences"; readonly ownerUids: readonly string[]; readonly reason: string }
  | {
      readonly action: "delete";
      readonly propagationPolicy: "Background" | "Foreground" | "Orphan";
      /** Stop holding up owners first: they may wait for this object, and it for them. */
      readonly unblockOwners: boolean;
      readonly reason: string;
    };

/** Whether an owner that exists keeps its dependents, or waits for them to go. */
export function classifyOwner({ deletionTimestamp, finalizers }: Metadata): "solid" | "waiting" {
  return deletionTimestamp && finalizers?.includes(FOREGROUND_DELETION_FINALIZER) ? "waiting" : "solid";
}

/**
 * Decides about one object with owners.
 *
 * One solid owner keeps it; references to the others are then removed, which also frees an owner that waits. Without one it
 * goes: first its own dependents, when an owner waits for it.
 *
 * @param object - As it is live.
 * @param dependents - Its own, as the graph knows them.
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

/** What was asked for the object itself before stays in force. */
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

import {
  type DeepReadonly,
  FOREGROUND_DELETION_FINALIZER,
  ORPHAN_FINALIZER,
  type OwnerReference,
} from "@kubewright/api";

import type { Invariant, InvariantChecks } from "../invariant.js";
import type { Stored } from "../world.js";
import { DisturbanceTracker } from "./disturbance-tracker.js";
import { LONGEST_REQUEST_MS, RELEASED_MS } from "./longest-request.js";
import { OwnershipGraph, hasFinalizer, isOrphaning, isWaiting } from "./ownership-graph.js";
import { GARBAGE_COLLECTOR, isBeingDeleted, incarnationKeyOf, nameOf, uidOf } from "./stored-objects.js";

/** Upstream: pkg/controller/garbagecollector/garbagecollector.go attemptToDeleteItem. */
export const ownedObjectsAreKept: Invariant = {
  name: "S14 garbage collection keeps owned objects",
  sentence:
    "The garbage collector deletes only objects all of whose owners are missing (by kind, " +
    "name, namespace and UID) or wait for their dependents, removes only references to such " +
    "owners, and never deletes a cluster-scoped object that names a namespaced owner.",
  watch(_world, violated): InvariantChecks {
    const graph = new OwnershipGraph();
    /** When the garbage collector sent its last live read of each object. */
    const looked = new Map<string, number>();
    /**
     * Objects whose deletion failed with a conflict, by incarnation: the next deletion may use the UID as its only
     * precondition.
     */
    const conflicts = new Set<string>();
    return {
      onAnswer(request) {
        const { component, verb, resource, namespace, name, sentMs, code } = request;
        if (component !== GARBAGE_COLLECTOR) return;
        const key = `${resource} ${namespace}/${name}`;
        if (verb === "get") looked.set(key, sentMs);
        if (verb === "delete" && code === 409) conflicts.add(`${incarnationKeyOf(request)} ${key}`);
      },
      onChange(change) {
        const { type, object, previous, request } = change;
        const isDeletion =
          type === "DELETED" || (type === "MODIFIED" && isBeingDeleted(object) && !isBeingDeleted(previous!));
        if (isDeletion && request?.component === GARBAGE_COLLECTOR && request.verb === "delete") {
          const before = previous ?? object;
          // References may change after the live read: after a conflict, the second deletion has only the UID as its
          // precondition.
          const key = `${change.resource} ${object.metadata.namespace ?? ""}/${object.metadata.name}`;
          const lookedMs = looked.get(key) ?? Infinity;
          const changedMs = graph.referencesMs.get(uidOf(object)) ?? -Infinity;
          const isRecent =
            changedMs >= Math.min(request.sentMs, lookedMs) && conflicts.has(`${incarnationKeyOf(request)} ${key}`);
          const wrong = isRecent ? undefined : deletionProblem(before, request.sentMs - LONGEST_REQUEST_MS, graph);
          if (wrong !== undefined) violated(nameOf(object, change.resource), `is deleted as garbage, ${wrong}`);
        }
        if (type === "MODIFIED" && request?.component === GARBAGE_COLLECTOR && request.verb === "patch") {
          const owner = removedLiveOwner(object, previous!, request.sentMs, graph);
          if (owner !== undefined)
            violated(nameOf(object, change.resource), `is taken from ${nameOf(owner)}, which is not being deleted`);
        }
        graph.onChange(change);
      },
    };
  },
};

/**
 * Returns an owner that an object no longer references, and that neither waits for its dependents nor orphans them, nor
 * did so recently.
 */
function removedLiveOwner(object: Stored, previous: Stored, sentMs: number, graph: OwnershipGraph): Stored | undefined {
  const kept = new Set((object.metadata.ownerReferences ?? []).map(({ uid }) => uid));
  for (const reference of previous.metadata.ownerReferences ?? []) {
    const owner = kept.has(reference.uid) ? undefined : graph.ownerOf(previous, reference);
    if (owner === undefined || isWaiting(owner) || isOrphaning(owner)) continue;
    const [releasedMs, orphanedMs] = [graph.releasedMs, graph.orphanedMs].map(
      (times) => times.get(uidOf(owner)) ?? -Infinity,
    ) as [number, number];
    // If the response to the owner's release is lost, the garbage collector releases the dependents again.
    if (releasedMs < sentMs - LONGEST_REQUEST_MS && orphanedMs < sentMs - RELEASED_MS) return owner;
  }
  return undefined;
}

/**
 * @param lookedMs - When it may have read the owners: an owner that waited for its dependents then may no longer do so.
 */
function deletionProblem(object: Stored, lookedMs: number, graph: OwnershipGraph): string | undefined {
  const references = object.metadata.ownerReferences ?? [];
  if (references.length === 0) return "and has no owner";
  if (graph.isOwnedAcross(object)) return "and has no namespace, as its owner has";
  for (const reference of references) {
    const owner = graph.ownerOf(object, reference);
    if (owner === undefined || isWaiting(owner) || (graph.releasedMs.get(uidOf(owner)) ?? -Infinity) >= lookedMs)
      continue;
    return `and ${nameOf(owner)} owns it`;
  }
  return undefined;
}

/** Maximum time for which an object may be garbage, or wait for the garbage collector. */
const COMPLETE_MS = 180_000;
/** The same without faults. */
const PROMPT_MS = 30_000;
/** How long a fault's effects may last: until another manager has taken over from one that lost its Lease. */
const OVER_MS = 60_000;
const TAKEN_OVER_MS = 200_000;

/** Upstream: garbagecollector.go, graph_builder.go. */
export const garbageIsCollected: Invariant = {
  name: "L3 garbage collection is complete",
  sentence:
    "180 s after the last fault, no object remains whose owners are all gone, and none waits for the garbage " +
    "collector to delete or orphan dependents that are gone; without faults, no such state lasts longer than 30 s.",
  watch(world, violated): InvariantChecks {
    const graph = new OwnershipGraph();
    const disturbances = new DisturbanceTracker(world, GARBAGE_COLLECTOR);
    const overMs = (world.plan.controllerManagers ?? 1) > 1 ? TAKEN_OVER_MS : OVER_MS;
    let lookedMs = world.nowMs;
    const goneMs = new Map<string, number>();
    const askedMs = new Map<string, number>();
    /** Returns since when nothing has happened to an object or its owners. */
    const leftSinceMs = (uid: string, { metadata }: Stored): number =>
      Math.max(
        askedMs.get(uid) ?? -Infinity,
        ...(metadata.ownerReferences ?? []).map((owner) => goneMs.get(owner.uid) ?? -Infinity),
      );
    return {
      onScenarioEvent: (scenarioEvent) => disturbances.onScenarioEvent(scenarioEvent),
      onCacheEvent: (event) => disturbances.onCacheEvent(event),
      onTick() {
        if (world.nowMs - lookedMs < PROMPT_MS) return;
        lookedMs = world.nowMs;
        const quietMs = disturbances.quietSinceMs + overMs;
        if (world.nowMs - PROMPT_MS < quietMs) return;
        for (const [uid, object] of graph.objects) {
          const lastMs = leftSinceMs(uid, object);
          const wrong =
            lastMs < quietMs || lastMs > world.nowMs - PROMPT_MS ? undefined : leftoverProblem(object, graph);
          if (wrong !== undefined) violated(nameOf(object), wrong);
        }
      },
      onChange(change) {
        graph.onChange(change);
        const uid = uidOf(change.object);
        // An object that references a waiting owner has to be handled, and so has one that did.
        if (change.type === "ADDED" || graph.referencesMs.get(uid) === change.atMs)
          for (const { uid: owner } of ownersOf(change.object, change.previous)) askedMs.set(owner, change.atMs);
        if (change.type === "DELETED") {
          goneMs.set(uid, change.atMs);
          for (const { uid: owner } of change.object.metadata.ownerReferences ?? []) askedMs.set(owner, change.atMs);
        } else if (isBeingDeleted(change.object) || (change.object.metadata.ownerReferences ?? []).length > 0)
          askedMs.set(uid, change.atMs);
      },
      atRest() {
        const sinceMs = world.nowMs - COMPLETE_MS;
        if (world.healedMs > sinceMs) return;
        for (const [uid, object] of graph.objects) {
          const wrong = leftSinceMs(uid, object) > sinceMs ? undefined : leftoverProblem(object, graph);
          if (wrong !== undefined) violated(nameOf(object), wrong);
        }
      },
    };
  },
};

function leftoverProblem(object: Stored, graph: OwnershipGraph): string | undefined {
  if (isBeingDeleted(object)) {
    if (hasFinalizer(object, ORPHAN_FINALIZER)) return "is deleted, and waits to have its dependents orphaned";
    if (!hasFinalizer(object, FOREGROUND_DELETION_FINALIZER)) return undefined;
    if (isBlocked(object, graph)) return undefined;
    return "is deleted, and waits for dependents none of which blocks it";
  }
  const references = object.metadata.ownerReferences ?? [];
  if (references.length === 0 || graph.isOwnedAcross(object)) return undefined;
  if (references.some((reference) => graph.ownerOf(object, reference) !== undefined)) return undefined;
  return `is left, and its owners are gone: ${references.map(({ kind, name }) => `${kind} ${name}`).join(", ")}`;
}

function* ownersOf(...objects: readonly (Stored | undefined)[]): Iterable<DeepReadonly<OwnerReference>> {
  for (const object of objects) yield* object?.metadata.ownerReferences ?? [];
}

/** Reports whether a waiting owner has a dependent to wait for; objects that only wait for each other have none. */
function isBlocked(owner: Stored, graph: OwnershipGraph, seen: Set<string> = new Set([uidOf(owner)])): boolean {
  for (const uid of graph.dependents.get(uidOf(owner)) ?? []) {
    const dependent = graph.objects.get(uid);
    const references = dependent?.metadata.ownerReferences ?? [];
    if (dependent === undefined || seen.has(uid)) continue;
    const blocking = references.filter((each) => each.uid === uidOf(owner) && each.blockOwnerDeletion === true);
    if (blocking.length === 0) continue;
    // The dependent is to be deleted too, or to keep only its other owners.
    if (!isBeingDeleted(dependent) && blocking.some((each) => graph.ownerOf(dependent, each) !== undefined)) continue;
    if (!isWaiting(dependent) || dependent.metadata.finalizers!.length > 1) return true;
    seen.add(uid);
    if (isBlocked(dependent, graph, seen)) return true;
  }
  return false;
}

import { FOREGROUND_DELETION_FINALIZER, ORPHAN_FINALIZER } from "@kubewright/api";

import type { Invariant, InvariantChecks } from "../invariant.js";
import type { CacheEvent, ObservedRequest, Stored, StoredChange } from "../world.js";
import { RELEASED_MS } from "./longest-request.js";
import { OwnershipGraph, hasFinalizer, isWaiting } from "./ownership-graph.js";
import { GARBAGE_COLLECTOR, isBeingDeleted, incarnationKeyOf, nameOf, uidOf } from "./stored-objects.js";

const FINALIZERS = [FOREGROUND_DELETION_FINALIZER, ORPHAN_FINALIZER] as const;

/** The references to owners that the caches of the garbage collector's incarnations have shown. */
class ShownReferences {
  /**
   * Since when each reference has been shown without a break, and whether it blocks the owner; by incarnation,
   * dependent and owner.
   */
  readonly #sinceMs = new Map<string, Map<string, { readonly atMs: number; readonly blocks: boolean }>>();

  onCacheEvent(event: CacheEvent): void {
    const { type, object, previous, atMs } = event;
    if (previous !== undefined && uidOf(previous) !== uidOf(object)) this.#sinceMs.delete(keyOf(event, previous));
    const key = keyOf(event, object);
    const before = this.#sinceMs.get(key);
    this.#sinceMs.delete(key);
    if (type === "delete") return;
    const now = new Map<string, { readonly atMs: number; readonly blocks: boolean }>();
    for (const { uid, blockOwnerDeletion } of object.metadata.ownerReferences ?? []) {
      const blocks = blockOwnerDeletion === true;
      const known = before?.get(uid);
      now.set(uid, known?.blocks === blocks ? known : { atMs, blocks });
    }
    if (now.size > 0) this.#sinceMs.set(key, now);
  }

  /** Returns since when a reference has been shown; Infinity when it is not shown, or not as a blocking one. */
  sinceMs(request: ObservedRequest, dependent: Stored, ownerUid: string, mustBlock: boolean): number {
    const known = this.#sinceMs.get(keyOf(request, dependent))?.get(ownerUid);
    return known === undefined || (mustBlock && !known.blocks) ? Infinity : known.atMs;
  }
}

function lookAt(request: ObservedRequest, resource: string, { metadata }: Stored): string {
  return `${incarnationKeyOf(request)} ${resource} ${metadata.namespace ?? ""}/${metadata.name}`;
}

function keyOf(incarnationKey: Parameters<typeof incarnationKeyOf>[0], object: Stored): string {
  return `${incarnationKeyOf(incarnationKey)} ${uidOf(object)}`;
}

/** Upstream: pkg/controller/garbagecollector/garbagecollector.go processDeletingDependentsItem, attemptToOrphanWorker. */
export const ownersWaitForDependents: Invariant = {
  name: "S27 owners wait for their dependents",
  sentence:
    "The garbage collector removes the foregroundDeletion finalizer only when no blocking dependent remains, " +
    "and the orphan finalizer only when no dependent names the owner: of those in its cache before the " +
    "deletion began. An object that it deletes for a waiting owner deletes its own dependents first.",
  watch({ plan }, violated): InvariantChecks {
    // After a handover, the cache of a bucket's owner is filled again.
    if (plan.controllers?.sharding === true) return {};
    const graph = new OwnershipGraph();
    const shown = new ShownReferences();
    const beganMs = new Map<string, number>();
    /** When an object of that name was last deleted. */
    const goneMs = new Map<string, number>();
    /** When an incarnation last read an object; after that it reads the object's owners. */
    const lookedMs = new Map<string, number>();
    return {
      onAnswer(request) {
        const { component, verb, resource, namespace, name, sentMs } = request;
        if (component === GARBAGE_COLLECTOR && verb === "get")
          lookedMs.set(lookAt(request, resource, { metadata: { namespace, name } }), sentMs);
      },
      onCacheEvent(event) {
        if (event.component === GARBAGE_COLLECTOR) shown.onCacheEvent(event);
      },
      onChange(change) {
        const { type, object, previous, request, atMs } = change;
        for (const finalizer of FINALIZERS) {
          const key = `${finalizer} ${uidOf(object)}`;
          const waited = previous !== undefined && isBeingDeleted(previous) && hasFinalizer(previous, finalizer);
          const waits = type !== "DELETED" && isBeingDeleted(object) && hasFinalizer(object, finalizer);
          if (waits && !waited) beganMs.set(key, atMs);
          if (!waited || waits || request?.component !== GARBAGE_COLLECTOR || request.verb !== "patch") continue;
          // The release addresses the object by name: it may have been meant for an earlier object of that name.
          if (atMs - (goneMs.get(nameOf(object, change.resource)) ?? -Infinity) < RELEASED_MS) continue;
          const left = remainingDependent(previous, finalizer, request, beganMs.get(key) ?? -Infinity);
          if (left !== undefined)
            violated(nameOf(object, change.resource), `is released from ${finalizer}, and ${nameOf(left)} is left`);
        }
        const left = dependentOfDeleted(change);
        if (left !== undefined)
          violated(nameOf(object, change.resource), `is deleted for an owner that waits, before ${nameOf(left)}`);
        if (type === "DELETED") goneMs.set(nameOf(object, change.resource), atMs);
        graph.onChange(change);
      },
    };

    /**
     * Returns a known dependent of an object that is deleted for a waiting owner without waiting for its own
     * dependents.
     */
    function dependentOfDeleted(change: StoredChange): Stored | undefined {
      const { type, object, previous, request } = change;
      if (request?.component !== GARBAGE_COLLECTOR || request.verb !== "delete" || previous === undefined)
        return undefined;
      if (isBeingDeleted(previous) || (type !== "DELETED" && isWaiting(object))) return undefined;
      const sinceMs = lookedMs.get(lookAt(request, change.resource, object)) ?? -Infinity;
      const waits = (previous.metadata.ownerReferences ?? []).some((reference) => {
        const owner = graph.ownerOf(previous, reference);
        const began = beganMs.get(`${FOREGROUND_DELETION_FINALIZER} ${reference.uid}`) ?? Infinity;
        return owner !== undefined && isWaiting(owner) && began < sinceMs;
      });
      if (!waits) return undefined;
      for (const uid of graph.dependents.get(uidOf(object)) ?? []) {
        const dependent = graph.objects.get(uid)!;
        if (shown.sinceMs(request, dependent, uidOf(object), false) < sinceMs) return dependent;
      }
      return undefined;
    }

    function remainingDependent(
      owner: Stored,
      finalizer: string,
      request: ObservedRequest,
      sinceMs: number,
    ): Stored | undefined {
      const ownerUid = uidOf(owner);
      for (const uid of graph.dependents.get(ownerUid) ?? []) {
        const dependent = graph.objects.get(uid)!;
        // A dependent whose owners changed meanwhile may have been handled before the change.
        if ((graph.referencesMs.get(uid) ?? -Infinity) >= sinceMs) continue;
        const references = (dependent.metadata.ownerReferences ?? []).filter(
          (reference) => reference.uid === ownerUid && graph.ownerOf(dependent, reference) !== undefined,
        );
        const mustBlock = finalizer === FOREGROUND_DELETION_FINALIZER;
        const counts = references.some(({ blockOwnerDeletion }) => !mustBlock || blockOwnerDeletion === true);
        if (counts && shown.sinceMs(request, dependent, ownerUid, mustBlock) < sinceMs) return dependent;
      }
      return undefined;
    }
  },
};

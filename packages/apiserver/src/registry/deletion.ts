import {
  FOREGROUND_DELETION_FINALIZER,
  type KubernetesObject,
  ORPHAN_FINALIZER,
  secondsAsDurationMs,
  formatTime,
  parseTime,
} from "@kubewright/api";

import { conflict, qualifiedKind } from "../api-error.js";
import type { ServedResource } from "../served-resource.js";
import { MARKED_BYTES } from "../storage/object-size.js";
import { StoredObject } from "../storage/stored-object.js";
import type { DeleteOptions } from "./options.js";
import type { DeletionResult } from "./outcome.js";

/** Options of the server's own deletions: the kind's default grace period, background propagation. */
export const UNCONDITIONAL_DELETE: DeleteOptions = {
  dryRun: false,
  gracePeriodSeconds: undefined,
  propagationPolicy: "Background",
  orphanDependents: undefined,
  preconditions: undefined,
};

/** @throws ApiError 409 when the UID or resourceVersion differs from the precondition. */
export function checkPreconditions(
  resource: ServedResource,
  stored: StoredObject,
  { preconditions }: DeleteOptions,
): void {
  if (preconditions === undefined) return;
  const { uid = "", resourceVersion = "" } = stored.object.metadata;
  const kind = qualifiedKind(resource);
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    const why = `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
    throw conflict(resource, stored.name, why, kind, resource.kind);
  }
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`;
    throw conflict(resource, stored.name, why, kind, resource.kind);
  }
}

/**
 * Marks an object for deletion, or removes it. Upstream: `deletionFinalizersForGarbageCollection` and
 * `rest.BeforeDelete`.
 *
 * @param content - The object to store if it remains. Default: the stored object.
 */
export function markOrRemove(
  resource: ServedResource,
  stored: StoredObject,
  options: DeleteOptions,
  nowMs: number,
  content = stored.object,
): DeletionResult {
  const { strategy } = resource;
  const { metadata } = stored.object;
  const graceful = strategy.gracePeriodSeconds !== undefined;
  let graceSeconds = 0;
  if (strategy.gracePeriodSeconds !== undefined) {
    graceSeconds = strategy.gracePeriodSeconds(stored.object, options.gracePeriodSeconds);
    if (metadata.deletionTimestamp && metadata.deletionGracePeriodSeconds) {
      const currentSeconds = metadata.deletionGracePeriodSeconds;
      const asked = options.gracePeriodSeconds === undefined && graceSeconds !== 0 ? undefined : graceSeconds;
      if (asked === undefined || asked >= currentSeconds) return { gone: false, object: stored };
    }
  }
  const finalizers = finalizersFor(resource, stored, options);
  const shortened = shortenedDeletion(metadata, graceSeconds, nowMs);
  if (finalizers.length === 0 && shortened.graceSeconds === 0)
    return removeNow(resource, stored, options, graceful, nowMs);
  const next: KubernetesObject = { ...content, metadata: { ...metadata } };
  if (!metadata.deletionTimestamp && next.metadata.generation) next.metadata.generation += 1;
  if (!metadata.deletionTimestamp || graceful) {
    next.metadata.deletionTimestamp = shortened.deletionTimestamp;
    next.metadata.deletionGracePeriodSeconds = shortened.graceSeconds;
  }
  setFinalizers(next, finalizers);
  if (isSameDeletion(next, stored.object)) return { gone: false, object: stored };
  return {
    gone: false,
    object: options.dryRun ? StoredObject.forDryRun(next) : resource.storage.write(next, MARKED_BYTES),
  };
}

/** Returns the deletion time: set for the first time, or moved to an earlier time, but never before now. */
function shortenedDeletion(
  metadata: KubernetesObject["metadata"],
  graceSeconds: number,
  nowMs: number,
): { deletionTimestamp: string; graceSeconds: number } {
  const dueMs = parseTime(metadata.deletionTimestamp);
  if (dueMs === undefined)
    return { deletionTimestamp: formatTime(nowMs + secondsAsDurationMs(graceSeconds)), graceSeconds };
  const startMs = dueMs - secondsAsDurationMs(metadata.deletionGracePeriodSeconds ?? 0);
  const wantedMs = startMs + secondsAsDurationMs(graceSeconds);
  if (wantedMs > nowMs || graceSeconds === 0) {
    return {
      deletionTimestamp: graceSeconds === 0 ? formatTime(Math.min(dueMs, nowMs)) : formatTime(wantedMs),
      graceSeconds,
    };
  }
  return { deletionTimestamp: formatTime(nowMs), graceSeconds: 1 };
}

function removeNow(
  resource: ServedResource,
  stored: StoredObject,
  options: DeleteOptions,
  graceful: boolean,
  nowMs: number,
): DeletionResult {
  const { storage } = resource;
  const { metadata } = stored.object;
  if (!graceful || (metadata.deletionTimestamp && metadata.deletionGracePeriodSeconds === 0)) {
    return { gone: true, object: options.dryRun ? stored : storage.remove(stored) };
  }
  // Upstream first writes the zero grace period, so that watchers see the marked object before its removal.
  const next: KubernetesObject = { ...stored.object, metadata: { ...stored.object.metadata } };
  if (!metadata.deletionTimestamp && next.metadata.generation) next.metadata.generation += 1;
  const dueMs = parseTime(metadata.deletionTimestamp);
  next.metadata.deletionTimestamp = formatTime(dueMs === undefined ? nowMs : Math.min(dueMs, nowMs));
  next.metadata.deletionGracePeriodSeconds = 0;
  if (options.dryRun) return { gone: true, object: StoredObject.forDryRun(next) };
  return { gone: true, object: storage.remove(storage.write(next, MARKED_BYTES)) };
}

/** Returns the finalizers after the deletion request: the propagation policy adds or removes one. */
function finalizersFor(resource: ServedResource, stored: StoredObject, options: DeleteOptions): string[] {
  const current = stored.object.metadata.finalizers ?? [];
  const policy = propagation(resource, stored, options);
  const others = current.filter(
    (finalizer) => finalizer !== ORPHAN_FINALIZER && finalizer !== FOREGROUND_DELETION_FINALIZER,
  );
  if (policy === "Background") return others;
  const wanted = policy === "Orphan" ? ORPHAN_FINALIZER : FOREGROUND_DELETION_FINALIZER;
  return current.includes(wanted)
    ? current.filter((finalizer) => finalizer === wanted || others.includes(finalizer))
    : [...others, wanted];
}

function propagation(
  { strategy }: ServedResource,
  stored: StoredObject,
  options: DeleteOptions,
): "Background" | "Foreground" | "Orphan" {
  if (options.orphanDependents !== undefined) return options.orphanDependents ? "Orphan" : "Background";
  if (options.propagationPolicy !== undefined) return options.propagationPolicy;
  const finalizers = stored.object.metadata.finalizers ?? [];
  if (finalizers.includes(ORPHAN_FINALIZER)) return "Orphan";
  if (finalizers.includes(FOREGROUND_DELETION_FINALIZER)) return "Foreground";
  return strategy.defaultPropagation ?? "Background";
}

export function setFinalizers(object: KubernetesObject, finalizers: string[]): void {
  if (finalizers.length === 0) delete object.metadata.finalizers;
  else object.metadata.finalizers = finalizers;
}

function isSameDeletion(next: KubernetesObject, stored: KubernetesObject): boolean {
  const a = next.metadata;
  const b = stored.metadata;
  return (
    a.deletionTimestamp === b.deletionTimestamp &&
    a.deletionGracePeriodSeconds === b.deletionGracePeriodSeconds &&
    (a.finalizers ?? []).join(",") === (b.finalizers ?? []).join(",")
  );
}

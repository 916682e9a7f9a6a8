import {
  type DeepReadonly,
  FOREGROUND_DELETION_FINALIZER,
  ORPHAN_FINALIZER,
  type OwnerReference,
} from "@kubewright/api";

import type { Stored, StoredChange } from "../world.js";
import { isBeingDeleted, uidOf } from "./stored-objects.js";

/** The stored objects and their owner references. */
export class OwnershipGraph {
  readonly objects = new Map<string, Stored>();
  /** UIDs of the objects that reference an owner, by the owner's UID. */
  readonly dependents = new Map<string, Set<string>>();
  /** Kinds of namespaced objects. */
  readonly #namespaced = new Set(["ConfigMap", "CronJob", "Job", "Pod"]);
  /** When the references of an object last changed. */
  readonly referencesMs = new Map<string, number>();
  /** When a waiting object lost the foregroundDeletion finalizer, while other finalizers blocked its deletion. */
  readonly releasedMs = new Map<string, number>();
  /** When an orphaning object lost the orphan finalizer, while other finalizers blocked its deletion. */
  readonly orphanedMs = new Map<string, number>();

  onChange({ resource, type, object, previous, atMs }: StoredChange): void {
    if (resource.startsWith("events")) return;
    const uid = uidOf(object);
    if (object.metadata.namespace !== undefined) this.#namespaced.add(object.kind ?? "");
    for (const { uid: owner } of previous?.metadata.ownerReferences ?? []) this.dependents.get(owner)?.delete(uid);
    if (previous !== undefined && type !== "DELETED" && !areSame(previous, object)) this.referencesMs.set(uid, atMs);
    if (previous !== undefined && isWaiting(previous) && !isWaiting(object)) this.releasedMs.set(uid, atMs);
    if (previous !== undefined && isOrphaning(previous) && !isOrphaning(object)) this.orphanedMs.set(uid, atMs);
    if (type === "DELETED") {
      this.objects.delete(uid);
      return;
    }
    this.objects.set(uid, object);
    for (const { uid: owner } of object.metadata.ownerReferences ?? []) {
      const dependents = this.dependents.get(owner);
      if (dependents === undefined) this.dependents.set(owner, new Set([uid]));
      else dependents.add(uid);
    }
  }

  /**
   * Returns the stored owner that a reference names: with its group, kind, name and UID, and in the right namespace or
   * in none.
   */
  ownerOf(dependent: Stored, { uid, kind, name, apiVersion }: DeepReadonly<OwnerReference>): Stored | undefined {
    const owner = this.objects.get(uid);
    if (owner === undefined || owner.kind !== kind || owner.metadata.name !== name) return undefined;
    if (groupOf(owner.apiVersion) !== groupOf(apiVersion)) return undefined;
    const { namespace } = owner.metadata;
    return namespace === undefined || namespace === dependent.metadata.namespace ? owner : undefined;
  }

  /** Reports whether a cluster-scoped object references an owner of a namespaced kind. */
  isOwnedAcross({ metadata }: Stored): boolean {
    return (
      metadata.namespace === undefined &&
      (metadata.ownerReferences ?? []).some(({ kind }) => this.#namespaced.has(kind))
    );
  }
}

function areSame(a: Stored, b: Stored): boolean {
  if (a.metadata.ownerReferences === b.metadata.ownerReferences) return true;
  return JSON.stringify(a.metadata.ownerReferences ?? []) === JSON.stringify(b.metadata.ownerReferences ?? []);
}

function groupOf(apiVersion = ""): string {
  return apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
}

/** Reports whether an owner waits for its dependents to be deleted. */
export function isWaiting(owner: Stored): boolean {
  return isBeingDeleted(owner) && hasFinalizer(owner, FOREGROUND_DELETION_FINALIZER);
}

/** Reports whether an owner waits for its dependents to be released. */
export function isOrphaning(owner: Stored): boolean {
  return isBeingDeleted(owner) && hasFinalizer(owner, ORPHAN_FINALIZER);
}

export function hasFinalizer({ metadata }: Stored, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false;
}

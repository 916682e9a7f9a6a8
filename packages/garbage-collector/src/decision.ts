import type { ObjectIdentity } from "./object-identity.js";

/** A completed action of the garbage collector. */
export interface GarbageDecision {
  readonly atMs: number;
  /** The affected object. */
  readonly object: ObjectIdentity;
  /**
   * `deleted`: the deletion was requested. `referencesRemoved`: owner references were removed. `released`: the
   * foreground deletion, or the orphaning of its dependents, is complete and its finalizer removed.
   */
  readonly action: "deleted" | "referencesRemoved" | "released";
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  /** Reason for the action. */
  readonly reason: string;
}

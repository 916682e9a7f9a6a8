import type { ObjectIdentity } from "./object-identity.js";

/** Something the garbage collector did, after it was done. */
export interface GarbageDecision {
  readonly atMs: number;
  /** What it was done to. */
  readonly object: ObjectIdentity;
  /**
   * `deleted`: deletion was asked for. `referencesRemoved`: it lost references to owners. `released`: its foreground
   * deletion, or orphaning of its dependents, is complete and its finalizer removed.
   */
  readonly action: "deleted" | "referencesRemoved" | "released";
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  /** Why. */
  readonly reason: string;
}

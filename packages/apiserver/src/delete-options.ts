import type { KubernetesObject } from "@kubewright/api";

import type { StoredObject } from "./storage/stored-object.js";

/** How an object is to be deleted. */
export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: "Foreground" | "Background" | "Orphan" | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
}

/** What became of an object that was to be deleted. */
export interface DeletionResult {
  /** The object is gone from the store. */
  readonly gone: boolean;
  /** Its last state, or its state now. */
  readonly object: StoredObject | KubernetesObject;
}

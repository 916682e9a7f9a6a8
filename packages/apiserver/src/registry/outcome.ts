import type { KubernetesObject } from "@kubewright/api";

import type { StoredObject } from "../storage/stored-object.js";

/** What became of a create or an update. */
export interface WriteOutcome {
  /** The object as it is stored, or, for a dry run and where it is stored as another kind, as it would be. */
  readonly object: StoredObject | KubernetesObject;
  /** There was none before. */
  readonly created: boolean;
}

/** What became of an object that was to be deleted. */
export interface DeletionResult {
  /** The object is gone from the store. */
  readonly gone: boolean;
  /** Its last state, or its state now. */
  readonly object: StoredObject | KubernetesObject;
}

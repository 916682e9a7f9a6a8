import type { KubernetesObject } from "@kubewright/api";

import type { StoredObject } from "../storage/stored-object.js";

/** What became of a create or an update. */
export interface WriteOutcome {
  /** The object as it is stored, or as it would be; one that is shown as it is where nothing is stored any more. */
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

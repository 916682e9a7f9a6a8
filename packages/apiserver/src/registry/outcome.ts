import type { KubernetesObject } from "@kubewright/api";

import type { StoredObject } from "../storage/stored-object.js";

/** Result of a create or an update. */
export interface WriteOutcome {
  /** The stored object, or the object of a dry run. An object without stored form when nothing is stored any more. */
  readonly object: StoredObject | KubernetesObject;
  /** Whether the object was created. */
  readonly created: boolean;
}

/** Result of a deletion. */
export interface DeletionResult {
  /** Whether the object was removed from the store. */
  readonly gone: boolean;
  /** Its last state if removed, else its current state. */
  readonly object: StoredObject | KubernetesObject;
}

import type { KubernetesObject } from "@kubewright/api";

import type { Awaitable } from "../awaitable.js";
import type { StoredObject } from "../storage/stored-object.js";
import type { WriteOptions } from "./options.js";
import type { Write } from "./write.js";

/** What a create, update, patch or apply asks for. */
export interface WriteRequest {
  /**
   * Returns the requested object with defaults, which the caller must not use afterwards. Called again when the stored
   * object changed during an asynchronous stage.
   *
   * @param current - The object in the version of the resource, shared: do not change it; `undefined` when missing.
   */
  read(current: KubernetesObject | undefined): Awaitable<KubernetesObject>;
  /** Whether the managedFields of the object are already correct. Default false. */
  readonly isTracked?: boolean;
  /** Whether a missing object is created. Default: the strategy decides, for the main resource only. */
  readonly createsMissing?: boolean;
}

/** One write on its way through the stages. */
export interface PendingWrite {
  readonly write: Write;
  readonly options: WriteOptions;
  readonly request: WriteRequest;
  /** Counted from 1. */
  attempt: number;
  /** The stored object at the start of the attempt; `undefined` for a new object. */
  stored: StoredObject | undefined;
  /** The stored object in the version of the resource. Shared: do not change it. */
  current: KubernetesObject | undefined;
  /** The object that the last stage left; in the end the object to store. */
  object: KubernetesObject;
  /** The complete object in the version of the resource. */
  complete: KubernetesObject;
  /** When the object is created. */
  nowMs: number;
  /** Whether a new object has a name that no stored object has. */
  hasFreeName: boolean;
  /** Whether a new object has read defaults that are not stored. */
  hasUnstoredDefaults: boolean;
}

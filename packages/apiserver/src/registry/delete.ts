import type { KubernetesObject } from "@kubewright/api";

import { notFound } from "../api-error.js";
import { type Awaitable, andThen } from "../awaitable.js";
import type { StoredObject } from "../storage/stored-object.js";
import { presentObject, toStorageVersion } from "../stored-versions.js";
import { checkPreconditions, markOrRemove } from "./deletion.js";
import type { DeleteOptions } from "./options.js";
import type { DeletionResult } from "./outcome.js";
import type { Write } from "./write.js";

/**
 * Deletes an object, or marks it for deletion.
 *
 * @throws ApiError 403, 409; 404 when the object was deleted while admission waited.
 * @see kubernetes `registry.Store.Delete`, `rest.BeforeDelete`
 */
export function deleteObject(write: Write, stored: StoredObject, options: DeleteOptions): Awaitable<DeletionResult> {
  const deletion = { write, stored, options, object: stored.object };
  return andThen(presentObject(write.target.resource, stored), admit, deletion);
}

interface Deletion {
  readonly write: Write;
  readonly stored: StoredObject;
  readonly options: DeleteOptions;
  /** The object in the version of the resource. */
  object: KubernetesObject;
}

function admit(object: KubernetesObject, deletion: Deletion): Awaitable<DeletionResult> {
  const { write, options } = deletion;
  deletion.object = object;
  return andThen(write.server.admission.validate(write, options, undefined, object), convertToStored, deletion);
}

function convertToStored(_admitted: void, deletion: Deletion): Awaitable<DeletionResult> {
  const { write, stored, object } = deletion;
  return andThen(toStorageVersion(write.target.resource, stored, object), deleteStored, deletion);
}

function deleteStored(content: KubernetesObject, { write, stored, options }: Deletion): DeletionResult {
  const { resource } = write.target;
  const now = resource.storage.get(stored.namespace, stored.name);
  if (now === undefined) throw notFound(resource, stored.name);
  return deleteAdmitted(write, now, options, now === stored ? content : now.object);
}

/**
 * Deletes an object whose admission is complete, such as an eviction's pod.
 *
 * @param content - The object to store if it remains. Default: the stored object.
 */
export function deleteAdmitted(
  write: Write,
  stored: StoredObject,
  options: DeleteOptions,
  content?: KubernetesObject,
): DeletionResult {
  const { resource } = write.target;
  if (resource.remove !== undefined) return resource.remove(resource, stored, options, write.server.clock.now());
  checkPreconditions(resource, stored, options);
  return markOrRemove(resource, stored, options, write.server.clock.now(), content);
}

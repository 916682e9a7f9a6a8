import type { KubernetesObject } from "@kubewright/api";

import { notFound } from "../api-error.js";
import { type Awaitable, andThen } from "../awaitable.js";
import type { StoredObject } from "../storage/stored-object.js";
import { present, storableAgain } from "../stored-versions.js";
import { checkPreconditions, markOrRemoveIn } from "./deletion.js";
import type { DeleteOptions } from "./options.js";
import type { DeletionResult } from "./outcome.js";
import type { Write } from "./write.js";

/**
 * Deletes an object, or marks it as one that is to go.
 *
 * @throws ApiError 403, 409; 404 when it went while admission waited.
 * @see kubernetes `registry.Store.Delete`, `rest.BeforeDelete`
 */
export function deleteObject(write: Write, stored: StoredObject, options: DeleteOptions): Awaitable<DeletionResult> {
  const { resource } = write.target;
  return andThen(present(resource, stored), (object) =>
    andThen(write.server.admission.validate(write, options, undefined, object), () =>
      andThen(storableAgain(resource, stored, object), (content) => {
        const now = resource.storage.get(stored.namespace, stored.name);
        if (now === undefined) throw notFound(resource, stored.name);
        return deleteAdmitted(write, now, options, now === stored ? content : now.object);
      }),
    ),
  );
}

/**
 * The same of what needs no admission of its own, as an eviction has had it.
 *
 * @param content - As it is to be stored, when it stays. Default: as it is.
 */
export function deleteAdmitted(
  write: Write,
  stored: StoredObject,
  options: DeleteOptions,
  content?: KubernetesObject,
): DeletionResult {
  const { resource } = write.target;
  if (resource.remove !== undefined) return resource.remove(write, stored, options);
  checkPreconditions(resource, stored, options);
  return markOrRemoveIn(resource, stored, options, write.server.clock.now(), content);
}

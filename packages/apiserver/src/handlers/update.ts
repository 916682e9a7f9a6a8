import type { KubernetesObject } from "@kubewright/api";

import type { ApiCall } from "../api-call.js";
import { badRequest } from "../api-error.js";
import type { Awaitable } from "../awaitable.js";
import { setRequestNamespace } from "../registry/namespace-lifecycle.js";
import { uidConflict, updateObject } from "../registry/update.js";
import type { Reply } from "../reply.js";
import { readWriteOptions } from "../write-options.js";
import { decodeRequestObject } from "./decode-object.js";
import { outcomeReply } from "./object-reply.js";

/** PUT of an object or of a subresource. Upstream: `handlers.UpdateResource`. */
export function update(call: ApiCall): Awaitable<Reply> {
  const { resource } = call.target;
  const options = readWriteOptions(call, "UpdateOptions");
  const updated = updateObject(call, options, (before) => {
    // Another API's view of the object is created per request: a client cannot send back parts of it.
    const object = decodeRequestObject(call, options, resource.view === undefined ? before?.object : undefined);
    checkName(call, object);
    setRequestNamespace(call, object);
    const { uid } = object.metadata;
    if (before !== undefined && uid && uid !== before.object.metadata.uid)
      throw uidConflict(call, uid, before.object.metadata.uid ?? "");
    return { object };
  });
  return outcomeReply(call, updated);
}

/** @throws ApiError 400 when the object's name differs from the path's. */
export function checkName(call: ApiCall, object: KubernetesObject): void {
  const { name } = call.target;
  if (!object.metadata.name)
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (object.metadata.name !== name)
    throw badRequest(
      `the name of the object (${object.metadata.name ?? ""}) does not match the name on the URL (${name})`,
    );
}

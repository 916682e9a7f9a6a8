import type { ApiCall } from "../api-call.js";
import type { Awaitable } from "../awaitable.js";
import { writeObject } from "../registry/write-object.js";
import type { Reply } from "../reply.js";
import { readWriteOptions } from "../write-options.js";
import { decodeRequestObject } from "./decode-object.js";
import { outcomeReply } from "./object-reply.js";

/** POST on a collection. Upstream: `handlers.CreateResource`. */
export function create(call: ApiCall): Awaitable<Reply> {
  const options = readWriteOptions(call, "CreateOptions");
  return outcomeReply(call, writeObject(call, options, { read: () => decodeRequestObject(call, options) }));
}

/** PUT of an object or of a subresource. Upstream: `handlers.UpdateResource`. */
export function update(call: ApiCall): Awaitable<Reply> {
  const { resource } = call.target;
  const options = readWriteOptions(call, "UpdateOptions");
  return outcomeReply(
    call,
    writeObject(call, options, {
      // Another API's view of the object is created per request: a client cannot send back parts of it.
      read: (current) => decodeRequestObject(call, options, resource.view === undefined ? current : undefined),
    }),
  );
}

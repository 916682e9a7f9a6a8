import type { ApiCall } from "../api-call.js";
import type { Awaitable } from "../awaitable.js";
import { createObject } from "../registry/create.js";
import type { Reply } from "../reply.js";
import { readWriteOptions } from "../write-options.js";
import { decodeRequestObject } from "./decode-object.js";
import { outcomeReply } from "./object-reply.js";

/** POST on a collection. Upstream: `handlers.CreateResource`. */
export function create(call: ApiCall): Awaitable<Reply> {
  const options = readWriteOptions(call, "CreateOptions");
  return outcomeReply(call, createObject(call, decodeRequestObject(call, options), options));
}

import type { ApiCall } from "./api-call.js";
import { badRequest, methodNotAllowed } from "./api-error.js";
import { bind, evict } from "./handlers/pod-subresources.js";
import { create } from "./handlers/create.js";
import { remove, removeCollection } from "./handlers/delete.js";
import { finalizeNamespace } from "./handlers/namespace.js";
import { patch } from "./handlers/patch.js";
import { podLog } from "./handlers/pod-log.js";
import { get, list } from "./handlers/read.js";
import { requestToken } from "./handlers/token-request.js";
import { update } from "./handlers/update.js";
import { type BookmarkSender, watch } from "./handlers/watch.js";
import type { Reply } from "./reply.js";
import type { RequestInfo } from "./request-info.js";
import type { ResourceTarget, Verb } from "./route.js";

/** The verb of a request, if its target has it. @throws ApiError 405 when it has not. */
export function servedVerb(method: string, { verb, depth }: RequestInfo, target: ResourceTarget): Verb {
  const { resource, namespace, subresource } = target;
  // Permission was asked for watching, or for what a GET does.
  if (method !== "GET" && (verb === "watch" || method === "HEAD")) throw methodNotAllowed();
  // New objects are sent to their collection, changes to their object.
  if (subresource === "" && ((verb === "create" && depth > 1) || (CHANGES.has(verb) && depth === 1)))
    throw methodNotAllowed();
  if (!isServed(verb as Verb, target)) throw methodNotAllowed();
  // Across namespaces there is nothing but reading.
  if (resource.namespaced && namespace === "" && verb !== "list" && verb !== "watch") throw methodNotAllowed();
  return verb as Verb;
}

const CHANGES: ReadonlySet<string> = new Set(["update", "patch"]);

function isServed(verb: Verb, { resource, subresource }: ResourceTarget): boolean {
  if (subresource === "") return resource.verbs.has(verb);
  const verbs: readonly string[] | undefined = resource.subresources.get(subresource)?.verbs;
  return verbs?.includes(verb) ?? false;
}

/** Serves one request for a resource. */
export function dispatch(call: ApiCall, bookmarks: BookmarkSender): Reply | Promise<Reply> {
  const { target } = call;
  const own = target.resource.handle?.(call);
  if (own !== undefined) return own;
  switch (call.verb) {
    case "get":
      if (call.query.flag("export")) throw exportGone();
      return target.subresource === "log" ? podLog(call) : get(call);
    case "list":
      if (call.query.flag("export")) throw exportGone();
      return list(call);
    case "watch":
      return watch(call, bookmarks);
    case "create":
      if (target.subresource === "binding") return bind(call);
      if (target.subresource === "eviction") return evict(call);
      if (target.subresource === "token") return requestToken(call);
      return create(call);
    case "update":
      return target.subresource === "finalize" ? finalizeNamespace(call) : update(call);
    case "patch":
      return patch(call);
    case "delete":
      return remove(call);
    case "deletecollection":
      return removeCollection(call);
    default:
      return call.verb satisfies never;
  }
}

function exportGone(): Error {
  return badRequest("the export parameter, deprecated since v1.14, is no longer supported");
}

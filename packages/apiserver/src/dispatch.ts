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
import type { Query } from "./query.js";
import type { Reply } from "./reply.js";
import type { ResourceTarget, Verb } from "./request-info.js";
import type { Subresource } from "./served-resource.js";

/** What a method means for that target. @throws ApiError 405 when it means nothing. */
export function verbOf(method: string, target: ResourceTarget, query: Query): Verb {
  const { resource, name, namespace, subresource, watchPrefix } = target;
  // Whatever the method, permission was asked for watching.
  if (watchPrefix && method !== "GET") throw methodNotAllowed();
  const sub = subresource === "" ? undefined : resource.subresources.get(subresource);
  const verb = bareVerb(
    method,
    name !== "",
    sub !== undefined,
    watchPrefix || (name === "" && method === "GET" && query.flag("watch")),
  );
  if (verb === undefined || !isServed(verb, target, sub)) throw methodNotAllowed();
  // Across namespaces there is nothing but reading.
  if (resource.namespaced && namespace === "" && verb !== "list" && verb !== "watch") throw methodNotAllowed();
  return verb;
}

function bareVerb(method: string, named: boolean, isSubresource: boolean, watching: boolean): Verb | undefined {
  switch (method) {
    case "GET":
      return watching ? "watch" : named ? "get" : "list";
    case "POST":
      return named && !isSubresource ? undefined : "create";
    case "PUT":
      return named ? "update" : undefined;
    case "PATCH":
      return named ? "patch" : undefined;
    case "DELETE":
      return named ? "delete" : "deletecollection";
    default:
      return undefined;
  }
}

function isServed(verb: Verb, { resource }: ResourceTarget, subresource: Subresource | undefined): boolean {
  if (subresource === undefined) return resource.verbs.has(verb);
  return (subresource.verbs as readonly string[]).includes(verb);
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

import type { ApiCall, Handler } from "./api-call.js";
import { methodNotAllowed } from "./api-error.js";
import type { Reply } from "./reply.js";
import type { RequestInfo } from "./request-info.js";
import { type ResourceTarget, type Verb, subresourceOf } from "./route.js";

/**
 * Returns the verb of a request if the target supports it.
 *
 * @throws ApiError 405 when it does not.
 */
export function servedVerb(method: string, { verb, depth }: RequestInfo, target: ResourceTarget): Verb {
  const { resource, namespace, subresource } = target;
  // Authorization checked the verb `watch`, or the verb of a GET.
  if (method !== "GET" && (verb === "watch" || method === "HEAD")) throw methodNotAllowed();
  // A create goes to a collection; an update or patch goes to an object.
  if (subresource === "" && ((verb === "create" && depth > 1) || (CHANGE_VERBS.has(verb) && depth === 1)))
    throw methodNotAllowed();
  if (!isServed(verb as Verb, target)) throw methodNotAllowed();
  // Requests across namespaces may only read.
  if (resource.namespaced && namespace === "" && verb !== "list" && verb !== "watch") throw methodNotAllowed();
  return verb as Verb;
}

const CHANGE_VERBS: ReadonlySet<string> = new Set(["update", "patch"]);

function isServed(verb: Verb, target: ResourceTarget): boolean {
  const subresource = subresourceOf(target);
  return subresource === undefined ? target.resource.verbs.has(verb) : subresource.verbs.includes(verb);
}

/** Serves one request for a resource. */
export function dispatch(call: ApiCall): Reply | Promise<Reply> {
  const { handlers } = subresourceOf(call.target) ?? call.target.resource;
  const handler = handlers[call.verb] as Handler | undefined;
  if (handler === undefined) throw methodNotAllowed();
  return handler(call);
}

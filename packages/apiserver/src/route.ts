import type { RequestInfo } from "./request-info.js";
import type { ServedResource, Subresource } from "./served-resource.js";

/** The verb of an API request, as authorization, audit and discovery name it. */
export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** What a request addresses, among what the server has. */
export interface ResourceTarget {
  readonly resource: ServedResource;
  /** `""`: cluster-scoped, or across namespaces. */
  readonly namespace: string;
  /** As in {@link ResourceAttributes}. */
  readonly name: string;
  /** `""`: the resource itself. */
  readonly subresource: string;
}

export function subresourceOf({ resource, subresource }: ResourceTarget): Subresource | undefined {
  return subresource === "" ? undefined : resource.subresources.get(subresource);
}

/** What a request leads to. */
export type Route =
  | { readonly type: "resource"; readonly target: ResourceTarget }
  /** A registered group and version, or a version of a registered group, without that resource. */
  | {
      readonly type: "unknownResource";
      readonly group: string;
      readonly resource?: ServedResource;
      readonly name?: string;
    }
  | { readonly type: "other" };

/** What routing asks of the registry. */
export interface RouteLookup {
  /** @returns `undefined` when the group is not registered at all; a missing version has no resources. */
  resources(group: string, version: string): ReadonlyMap<string, ServedResource> | undefined;
}

const OTHER: Route = { type: "other" };

/** Finds what a request is about. */
export function route(info: RequestInfo, lookup: RouteLookup): Route {
  const { path, verb, inNamespace, depth } = info;
  if (info.resource === undefined) return OTHER;
  const { group, version, namespace, name, subresource } = info.resource;
  // Slashes too many do not change who may do what, but there is nothing behind them.
  if (!path.startsWith(group === "" ? "/api/" : "/apis/")) return OTHER;
  const resources = lookup.resources(group, version);
  if (resources === undefined) return OTHER;
  const resource = resources.get(info.resource.resource);
  if (resource === undefined || depth > 3 || verb === "proxy" || isOutOfScope(resource, info))
    return { type: "unknownResource", group };
  if (subresource !== "" && (name === "" || !resource.subresources.has(subresource)))
    return { type: "unknownResource", group, resource, name };
  return { type: "resource", target: { resource, namespace: inNamespace ? namespace : "", name, subresource } };
}

/** Whether a namespace is missing, or one too many. */
function isOutOfScope(
  { namespaced, custom }: ServedResource,
  { verb, inNamespace, depth, resource }: RequestInfo,
): boolean {
  if (!namespaced) return inNamespace;
  if (resource?.namespace !== "") return false;
  // A built-in collection has a path across namespaces, whatever may be done there.
  return depth > 1 || (custom !== undefined && verb !== "list" && verb !== "watch");
}

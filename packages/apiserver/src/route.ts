import type { RequestInfo } from "./request-info.js";
import type { ServedResource, Subresource } from "./served-resource.js";

/** The verb of an API request in authorization, audit and discovery. */
export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** The target of a request: a served resource, and the object or collection in it. */
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

/** Result of routing. */
export type Route =
  | { readonly type: "resource"; readonly target: ResourceTarget }
  /** The group is registered, but the version or resource is not. */
  | {
      readonly type: "unknownResource";
      readonly group: string;
      readonly resource?: ServedResource;
      readonly name?: string;
    }
  | { readonly type: "other" };

/** The part of the registry that routing uses. */
export interface RouteLookup {
  /** @returns `undefined` when the group is not registered; an empty map when only the version is missing. */
  resources(group: string, version: string): ReadonlyMap<string, ServedResource> | undefined;
}

const OTHER: Route = { type: "other" };

/** Finds the target of a request. */
export function route(info: RequestInfo, lookup: RouteLookup): Route {
  const { path, verb, inNamespace, depth } = info;
  if (info.resource === undefined) return OTHER;
  const { group, version, namespace, name, subresource } = info.resource;
  // Extra slashes do not change authorization, but such a path matches no route.
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

/** Whether the path lacks a required namespace or has one too many. */
function isOutOfScope(
  { namespaced, custom }: ServedResource,
  { verb, inNamespace, depth, resource }: RequestInfo,
): boolean {
  if (!namespaced) return inNamespace;
  if (resource?.namespace !== "") return false;
  // A built-in collection has a path across namespaces for every verb.
  return depth > 1 || (custom !== undefined && verb !== "list" && verb !== "watch");
}

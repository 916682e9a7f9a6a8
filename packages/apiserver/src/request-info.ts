import type { RequestTarget } from "@kubewright/transport";

import type { ServedResource } from "./served-resource.js";

/** The verb of an API request, as authorization, audit and discovery name it. */
export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** A request that addresses a resource, taken apart. */
export interface ResourceTarget {
  readonly resource: ServedResource;
  /** `""`: cluster-scoped, or across namespaces. */
  readonly namespace: string;
  readonly name: string;
  /** `""`: the resource itself. */
  readonly subresource: string;
  /** The deprecated `/watch/` prefix. */
  readonly watchPrefix: boolean;
}

/** What a path leads to. */
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

/** Finds what a path addresses. `path` is without the query; its parts are decoded here. */
export function route(path: string, lookup: RouteLookup): Route {
  const parts = partsOf(path);
  const core = parts[1] === "api";
  if (!core && parts[1] !== "apis") return OTHER;
  const at = core ? 3 : 4;
  if (parts.length <= at) return OTHER;
  const group = core ? "" : parts[2]!;
  const resources = core ? lookup.resources("", parts[2]!) : lookup.resources(parts[2]!, parts[3]!);
  if (resources === undefined) return OTHER;
  let index = at;
  const watchPrefix = parts[index] === "watch";
  if (watchPrefix) index++;
  let namespace = "";
  if (
    parts[index] === "namespaces" &&
    parts.length > index + 2 &&
    !(core && (parts[index + 2] === "status" || parts[index + 2] === "finalize") && parts.length === index + 3)
  ) {
    namespace = decodePart(parts[index + 1]!);
    index += 2;
  }
  const extra = parts.length - index - 1;
  if (extra > 2) return { type: "unknownResource", group };
  const name = extra > 0 ? decodePart(parts[index + 1]!) : "";
  return routeTo(
    resources,
    group,
    parts[index] ?? "",
    namespace,
    name,
    extra > 1 ? parts[index + 2]! : "",
    watchPrefix,
  );
}

/** The same for a path whose parts are known. */
export function routeTarget(target: RequestTarget, lookup: RouteLookup): Route {
  const { group, version, resource, namespace, name, subresource } = target;
  const resources = lookup.resources(group, version);
  return resources === undefined ? OTHER : routeTo(resources, group, resource, namespace, name, subresource, false);
}

function routeTo(
  resources: ReadonlyMap<string, ServedResource>,
  group: string,
  plural: string,
  namespace: string,
  name: string,
  subresource: string,
  watchPrefix: boolean,
): Route {
  const resource = resources.get(plural);
  if (resource === undefined || (namespace !== "" && !resource.namespaced)) return { type: "unknownResource", group };
  if (subresource !== "" && !resource.subresources.has(subresource))
    return { type: "unknownResource", group, resource, name };
  return { type: "resource", target: { resource, namespace, name, subresource, watchPrefix } };
}

/** What is between the slashes; the first part is before the first of them. A trailing slash names the same thing. */
function partsOf(path: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", from)) {
    parts.push(path.slice(from, slash));
    from = slash + 1;
  }
  if (from < path.length) parts.push(path.slice(from));
  return parts;
}

const OTHER: Route = { type: "other" };

function decodePart(part: string): string {
  if (!part.includes("%")) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

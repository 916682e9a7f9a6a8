import { pathSegmentErrors } from "@kubewright/api/validation";
import { type ApiRequest, parseRequestUrl } from "@kubewright/transport";

import { parseFieldSelector, requiredValue } from "./field-selector-query.js";
import { Query } from "./query.js";

/** The resource that a path addresses. */
export interface ResourceAttributes {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** `""`: the resource itself. */
  readonly subresource: string;
  /** `""`: cluster-scoped, or across namespaces. */
  readonly namespace: string;
  /** The name in the path, or the only name that the field selector of a read allows; `""`: all objects. */
  readonly name: string;
}

/**
 * Attributes of a request. The server derives them once, only from method and URL. Authorization, routing, handlers and
 * audit all use them, so that the permitted action is the executed action.
 */
export interface RequestInfo {
  /** `get`, `list`, `deletecollection`…; the lower-case HTTP method for a non-resource path. */
  readonly verb: string;
  /** Decoded, without the query. */
  readonly path: string;
  /** `undefined` for a non-resource path. The resource need not exist. */
  readonly resource: ResourceAttributes | undefined;
  /**
   * Whether the path has a namespace before the resource. False for a Namespace itself, although its attributes contain
   * a namespace.
   */
  readonly inNamespace: boolean;
  /**
   * Number of path parts from the resource on: 1 for a collection, 2 with a name, 3 with a subresource. Larger values
   * match no route.
   */
  readonly depth: number;
}

/**
 * @param path - Decoded, without the query.
 * @see apiserver `pkg/endpoints/request/requestinfo.go`
 */
export function requestInfo(method: string, path: string, query: Query): RequestInfo {
  const parts = splitPath(path);
  const grouped = parts[0] === "apis";
  let at = grouped ? 3 : 2;
  if (parts.length <= at || (!grouped && parts[0] !== "api"))
    return { verb: method.toLowerCase(), path, resource: undefined, inNamespace: false, depth: 0 };
  const group = grouped ? parts[1]! : "";
  const version = parts[at - 1]!;
  let verb = verbOf(method);
  // Deprecated: a verb before the resource. Upstream answers 500 to a path that ends with such a verb.
  if ((parts[at] === "watch" || parts[at] === "proxy") && parts.length > at + 1) verb = parts[at++]!;
  let namespace = "";
  let inNamespace = false;
  if (parts[at] === "namespaces" && parts.length > at + 1) {
    namespace = parts[at + 1]!;
    const next = parts[at + 2];
    inNamespace = next !== undefined && next !== "status" && next !== "finalize";
    if (inNamespace) at += 2;
  }
  const depth = parts.length - at;
  let name = depth > 1 ? parts[at + 1]! : "";
  const subresource = depth > 2 ? parts[at + 2]! : "";
  if (name === "") {
    if (verb === "get") verb = query.flag("watch") ? "watch" : "list";
    else if (verb === "delete") verb = "deletecollection";
    if (verb === "list" || verb === "watch" || verb === "deletecollection") name = selectedName(query);
  }
  const resource = { group, version, resource: parts[at]!, subresource, namespace, name };
  return { verb, path, resource, inNamespace, depth };
}

/** Returns the attributes of a request by method and URL; `undefined` when the URL is invalid. */
export function describeRequest({ method, path }: Pick<ApiRequest, "method" | "path">): RequestInfo | undefined {
  const url = parseRequestUrl(path);
  return url === undefined ? undefined : requestInfo(method, url.path, new Query(url.query));
}

function verbOf(method: string): string {
  switch (method) {
    case "GET":
    case "HEAD":
      return "get";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return "delete";
    default:
      return "";
  }
}

/** Splits a path; ignores slashes at both ends. */
function splitPath(path: string): string[] {
  let from = 0;
  let to = path.length;
  while (path[from] === "/") from++;
  while (to > from && path[to - 1] === "/") to--;
  const parts: string[] = [];
  for (let slash = path.indexOf("/", from); slash >= 0 && slash < to; slash = path.indexOf("/", from)) {
    parts.push(path.slice(from, slash));
    from = slash + 1;
  }
  parts.push(path.slice(from, to));
  return parts;
}

/** Returns the only name that the field selector allows, or `""`. */
function selectedName(query: Query): string {
  const selector = query.get("fieldSelector") ?? "";
  if (!selector.includes("metadata.name")) return "";
  try {
    const name = requiredValue(parseFieldSelector(selector), "metadata.name") ?? "";
    return pathSegmentErrors(name).length === 0 ? name : "";
  } catch {
    // The handler refuses the invalid selector.
    return "";
  }
}

import { parseFieldSelector, requiredValue } from "../field-selector-query.js";
import type { Query } from "../query.js";
import type { AccessAttributes, UserInfo } from "./authorizer.js";

type Described = Omit<AccessAttributes, "user">;

const RESOURCE_VERBS: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};
const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(["status", "finalize"]);

/**
 * What a request is about, told from its method and URL alone: permission is asked before anybody knows whether the
 * resource exists. Takes paths apart as routing does, so that what is allowed is what is done. Upstream:
 * `request.RequestInfoFactory`.
 */
export function requestAttributes(method: string, path: string, query: Query, user: UserInfo): AccessAttributes {
  return { user, ...describe(method, path, query) };
}

function describe(method: string, path: string, query: Query): Described {
  const other: Described = { verb: method.toLowerCase(), path: decodePart(path) };
  const parts = path.split("/").slice(1);
  if (parts.at(-1) === "") parts.pop();
  const core = parts[0] === "api";
  if (!core && parts[0] !== "apis") return other;
  const at = core ? 2 : 3;
  if (parts.length <= at) return other;
  const group = core ? "" : decodePart(parts[1]!);
  const version = decodePart(core ? parts[1]! : parts[2]!);
  let rest = parts.slice(at).map(decodePart);
  let verb = RESOURCE_VERBS[method] ?? "";
  if (rest[0] === "watch" && rest.length > 1) {
    verb = "watch";
    rest = rest.slice(1);
  }
  let namespace = "";
  if (rest[0] === "namespaces" && rest.length > 1) {
    namespace = rest[1]!;
    if (rest.length > 2 && !NAMESPACE_SUBRESOURCES.has(rest[2]!)) rest = rest.slice(2);
  }
  const [resource = "", pathName = "", subresource = ""] = rest;
  if (pathName === "" && verb === "get") verb = query.flag("watch") ? "watch" : "list";
  if (pathName === "" && verb === "delete") verb = "deletecollection";
  const reads = verb === "list" || verb === "watch" || verb === "deletecollection";
  const name = pathName === "" && reads ? selectedName(query) : pathName;
  return { verb, path: other.path, resource: { group, version, resource, subresource, namespace, name } };
}

/** The one name that a field selector lets through. */
function selectedName(query: Query): string {
  const selector = query.get("fieldSelector") ?? "";
  if (!selector.includes("metadata.name")) return "";
  try {
    return requiredValue(parseFieldSelector(selector), "metadata.name") ?? "";
  } catch {
    // The handler refuses it.
    return "";
  }
}

function decodePart(part: string): string {
  if (!part.includes("%")) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

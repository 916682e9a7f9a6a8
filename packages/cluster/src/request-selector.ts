import { type RequestInfo, describeRequest } from "@kubewright/apiserver";
import type { ApiRequest } from "@kubewright/transport";

/** Selects the requests that satisfy all given conditions. */
export interface RequestSelector {
  /** Names of components. Default: all. */
  readonly components?: readonly string[] | undefined;
  /** `create`, `update`, `patch`, `delete`, `get`, `list`, `watch`; `write`: any of the first four. Default: every verb. */
  readonly verbs?: readonly string[] | undefined;
  /** Plural names: `pods`, `jobs/status`. Default: all. */
  readonly resources?: readonly string[] | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

const WRITES: ReadonlySet<string> = new Set(["create", "update", "patch", "delete", "deletecollection"]);

/** Returns whether the selector matches a request. The network checks the components. */
export function selects(
  { verbs, resources, namespace, name }: Omit<RequestSelector, "components">,
  request: ApiRequest,
): boolean {
  const info = describeRequest(request);
  if (info?.resource === undefined) return false;
  const { resource } = info;
  if (verbs !== undefined && !verbs.includes(info.verb) && !(verbs.includes("write") && WRITES.has(info.verb)))
    return false;
  if (resources !== undefined && !resources.includes(qualifiedName(resource))) return false;
  if (namespace !== undefined && namespace !== resource.namespace) return false;
  return name === undefined || name === nameOf(info, request);
}

/** Returns a resource with its subresource: `jobs/status`. */
function qualifiedName({ resource, subresource }: NonNullable<RequestInfo["resource"]>): string {
  return subresource === "" ? resource : `${resource}/${subresource}`;
}

/** Returns the object's name. A create request has it in the body. */
function nameOf({ resource, verb }: RequestInfo, { body }: ApiRequest): string | undefined {
  if (verb !== "create" || resource!.name !== "" || body?.type !== "decoded") return resource!.name;
  return (body.value as { metadata?: { name?: string } } | undefined)?.metadata?.name;
}

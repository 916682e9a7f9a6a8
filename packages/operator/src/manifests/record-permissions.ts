import type { ApiRequest, Transport } from "@kubewright/transport";

import type { Permission } from "./permissions.js";

/** A recording transport, and the permissions that its requests needed. */
export interface PermissionRecording {
  /** Forwards requests to the recorded transport. */
  readonly transport: Transport;
  /** The permissions used so far, without duplicates. */
  permissions(): Permission[];
}

const VERBS: Readonly<Record<string, string>> = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" };

/**
 * Records the permissions that a test run of an operator uses, to compare them with its manifests or to add them.
 * Requests of the test itself must use another transport.
 *
 * Upstream's mapping of requests to verbs: `RequestInfoFactory` in apiserver's `pkg/endpoints/request/requestinfo.go`.
 */
export function recordPermissions(transport: Transport): PermissionRecording {
  const seen = new Map<string, { readonly permission: Permission; readonly verbs: Set<string> }>();
  return {
    transport: (request) => {
      const found = permissionOf(request);
      if (found !== undefined) {
        const { verb, ...permission } = found;
        const { group, resource, namespaced } = permission.resource;
        const key = JSON.stringify([group, resource, namespaced, permission.subresource]);
        const entry = seen.get(key) ?? { permission, verbs: new Set<string>() };
        entry.verbs.add(verb);
        seen.set(key, entry);
      }
      return transport(request);
    },
    permissions: () => [...seen.values()].map(({ permission, verbs }) => ({ ...permission, verbs: [...verbs] })),
  };
}

/** `undefined` for a request without resource, such as discovery. */
function permissionOf({ method, path }: ApiRequest): (Omit<Permission, "verbs"> & { verb: string }) | undefined {
  const [pathname = "", query = ""] = path.split("?", 2);
  const [root, ...parts] = pathname.split("/").slice(1).map(decodeURIComponent);
  if (root !== "api" && root !== "apis") return undefined;
  const group = root === "api" ? "" : (parts.shift() ?? "");
  // Permissions do not depend on the version.
  parts.shift();
  const inNamespace = parts[0] === "namespaces" && parts.length > 2 && !["status", "finalize"].includes(parts[2] ?? "");
  if (inNamespace) parts.splice(0, 2);
  const [resource, name, subresource] = parts;
  if (resource === undefined || resource === "") return undefined;
  const watches = ["true", "1"].includes(new URLSearchParams(query).get("watch") ?? "");
  const reads = watches ? "watch" : name === undefined ? "list" : "get";
  const writes = method === "DELETE" && name === undefined ? "deletecollection" : VERBS[method];
  return {
    resource: { group, resource, namespaced: inNamespace },
    ...(subresource === undefined ? {} : { subresource }),
    verb: writes ?? reads,
  };
}

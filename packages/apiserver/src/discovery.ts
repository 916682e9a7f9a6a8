import type { HeaderFields } from "@kubewright/transport";

import { type Reply, valueReply } from "./reply.js";
import type { ResourceRegistry } from "./resource-registry.js";
import type { ServedResource, Subresource } from "./served-resource.js";
import { storageVersionHash } from "./storage-version-hash.js";
import { accepts } from "./transform.js";
import { comparePreference } from "./version-order.js";

const AGGREGATED_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** Groups by priority: it decides which group a bare resource name refers to. All other groups follow by name. */
const GROUP_ORDER = [
  "apps",
  "events.k8s.io",
  "authentication.k8s.io",
  "authorization.k8s.io",
  "autoscaling",
  "batch",
  "certificates.k8s.io",
  "networking.k8s.io",
  "policy",
  "rbac.authorization.k8s.io",
  "storage.k8s.io",
  "admissionregistration.k8s.io",
  "apiextensions.k8s.io",
  "scheduling.k8s.io",
  "coordination.k8s.io",
  "node.k8s.io",
  "discovery.k8s.io",
];

/** Verbs of custom resources, in upstream's order for them. */
const CUSTOM_VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/** Serves the discovery documents. Rebuilds them when the registry changes. */
export class Discovery {
  readonly #registry: ResourceRegistry;
  readonly #cache = new Map<string, unknown>();
  #cachedGeneration = -1;

  constructor(registry: ResourceRegistry) {
    this.#registry = registry;
  }

  /** Returns the document at the path, or `undefined` when the path is no discovery path. */
  serve(path: string, headers: HeaderFields, host: string): Reply | undefined {
    const parts = pathParts(path);
    const [root, group, version] = parts;
    if (root === "api" && parts.length === 1)
      return this.#aggregated("core", headers) ?? valueReply(200, apiVersions(host));
    if (root === "apis" && parts.length === 1)
      return this.#aggregated("groups", headers) ?? valueReply(200, this.#groupList());
    if (root === "api" && parts.length === 2) return this.#resourceList("", group!);
    if (root !== "apis" || group === "") return undefined;
    if (parts.length === 2) return this.#group(group!);
    if (parts.length === 3) return this.#resourceList(group!, version!);
    return undefined;
  }

  #aggregated(which: "core" | "groups", headers: HeaderFields): Reply | undefined {
    if (accepts(headers["accept"], { as: "APIGroupDiscoveryList", g: "apidiscovery.k8s.io", v: "v2" }) !== true)
      return undefined;
    const { document, etag } = this.#cached(which, () => {
      const items =
        which === "core" ? [this.#groupDiscovery("")] : this.#namedGroups().map((name) => this.#groupDiscovery(name));
      const discoveryDocument = {
        kind: "APIGroupDiscoveryList",
        apiVersion: "apidiscovery.k8s.io/v2",
        metadata: {},
        items,
      };
      return { document: discoveryDocument, etag: `"${hashText(JSON.stringify(discoveryDocument))}"` };
    });
    const common = { etag, vary: "Accept", "cache-control": "public" };
    if (headers["if-none-match"] === etag)
      return { status: 304, headers: common, body: { type: "text", text: "", contentType: AGGREGATED_TYPE } };
    return valueReply(200, document, { ...common, "content-type": AGGREGATED_TYPE });
  }

  #groupDiscovery(group: string): unknown {
    const versions = this.#versionsOf(group).map(([version, resources]) => ({
      version,
      resources: byName(resources).map(resourceDiscovery),
      freshness: "Current",
    }));
    return { metadata: { ...(group === "" ? {} : { name: group }), creationTimestamp: null }, versions };
  }

  /** Returns the versions with the preferred one first. Built-in kinds are already in that order. */
  #versionsOf(group: string): [string, ReadonlyMap<string, ServedResource>][] {
    const versions = [...(this.#registry.groups.get(group) ?? [])];
    return this.#registry.isCustomGroup(group) ? versions.sort(([a], [b]) => comparePreference(a, b)) : versions;
  }

  #namedGroups(): string[] {
    const groups = [...this.#registry.groups.keys()].filter((group) => group !== "").sort();
    const priority = (group: string): number =>
      GROUP_ORDER.includes(group) ? GROUP_ORDER.indexOf(group) : GROUP_ORDER.length;
    return groups.sort((a, b) => priority(a) - priority(b));
  }

  #groupList(): unknown {
    return {
      kind: "APIGroupList",
      apiVersion: "v1",
      groups: this.#namedGroups().map((group) => this.#apiGroup(group)),
    };
  }

  #apiGroup(name: string): object {
    const versions = this.#versionsOf(name).map(([version]) => ({
      groupVersion: `${name}/${version}`,
      version,
    }));
    return { name, versions, preferredVersion: versions[0] };
  }

  #group(name: string): Reply | undefined {
    if (!this.#registry.groups.has(name)) return undefined;
    return valueReply(200, { kind: "APIGroup", apiVersion: "v1", ...this.#apiGroup(name) });
  }

  #resourceList(group: string, version: string): Reply | undefined {
    const resources = this.#registry.groups.get(group)?.get(version);
    if (resources === undefined) return undefined;
    const document = this.#cached(`${group}/${version}`, () => {
      const list = byName(resources).flatMap((resource) => [
        apiResource(resource),
        ...subresourcesOf(resource).map((sub) => apiSubresource(resource, sub)),
      ]);
      return {
        kind: "APIResourceList",
        ...(group === "" ? {} : { apiVersion: "v1" }),
        groupVersion: group === "" ? version : `${group}/${version}`,
        resources: list,
      };
    });
    return valueReply(200, document);
  }

  #cached<T>(key: string, make: () => T): T {
    if (this.#cachedGeneration !== this.#registry.generation) {
      this.#cache.clear();
      this.#cachedGeneration = this.#registry.generation;
    }
    let value = this.#cache.get(key) as T | undefined;
    if (value === undefined) this.#cache.set(key, (value = make()));
    return value;
  }
}

/** Splits a path into the parts after the first slash; ignores one slash at the end. */
export function pathParts(path: string): string[] {
  const parts = path.split("/").slice(1);
  if (parts.at(-1) === "") parts.pop();
  return parts;
}

function byName(resources: ReadonlyMap<string, ServedResource>): ServedResource[] {
  return [...resources.values()].sort((a, b) => (a.resource < b.resource ? -1 : 1));
}

function subresourcesOf({ subresources, custom }: ServedResource): Subresource[] {
  if (custom !== undefined) return [...subresources.values()];
  return [...subresources.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function apiVersions(host: string): unknown {
  return {
    kind: "APIVersions",
    versions: ["v1"],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: host }],
  };
}

function sortedVerbs(verbs: Iterable<string>): string[] {
  return [...verbs].sort();
}

function apiResource(resource: ServedResource): unknown {
  const { singular, namespaced, kind, verbs, shortNames, categories } = resource;
  return {
    name: resource.resource,
    singularName: singular,
    namespaced,
    kind,
    verbs: resource.custom === undefined ? sortedVerbs(verbs) : CUSTOM_VERBS,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(!verbs.has("get") ? {} : { storageVersionHash: hashOf(resource) }),
  };
}

function hashOf(resource: ServedResource): string {
  const stored = resource.view?.storedAs;
  if (stored !== undefined) return storageVersionHash(stored.group, stored.version, stored.kind);
  return storageVersionHash(resource.group, resource.storageVersion ?? resource.version, resource.kind);
}

function apiSubresource(resource: ServedResource, { name, group, version, kind, verbs }: Subresource): unknown {
  const foreign = group !== resource.group || version !== resource.version;
  return {
    name: `${resource.resource}/${name}`,
    singularName: "",
    namespaced: resource.namespaced,
    ...(foreign && group !== "" ? { group, version } : {}),
    kind,
    verbs: sortedVerbs(verbs),
  };
}

function resourceDiscovery(resource: ServedResource): unknown {
  const { group, version, kind, namespaced, singular, verbs, shortNames, categories } = resource;
  const subresources = subresourcesOf(resource).map((sub) => ({
    subresource: sub.name,
    responseKind: responseKind(resource, sub.group, sub.version, sub.kind),
    verbs: sortedVerbs(sub.verbs),
  }));
  return {
    resource: resource.resource,
    responseKind: responseKind(resource, group, version, kind),
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs: sortedVerbs(verbs),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}

/** Built-in kinds omit the group and version when they equal those of the list. */
function responseKind(resource: ServedResource, group: string, version: string, kind: string): object {
  const own = resource.custom === undefined && group === resource.group && version === resource.version;
  return own ? { group: "", version: "", kind } : { group, version, kind };
}

/** Returns a short hash for ETags (FNV-1a, twice 32 bits). */
export function hashText(text: string): string {
  let first = 0x811c9dc5;
  let second = 0x01000193;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    first = Math.imul(first ^ code, 0x01000193);
    second = Math.imul(second ^ code ^ (first >>> 13), 0x85ebca6b);
  }
  return `${(first >>> 0).toString(16).padStart(8, "0")}${(second >>> 0).toString(16).padStart(8, "0")}`.toUpperCase();
}

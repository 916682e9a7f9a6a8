import { type KubernetesObject, type ResourceDefinition, apiVersionOf } from "@kubewright/api";

import type { BuiltInResource } from "./built-in-resource.js";
import type { RouteLookup } from "./route.js";
import type { BuiltInSchemas } from "./schema/built-in-schemas.js";
import { TOO_DEEP, isNestedDeeper } from "./nesting.js";
import { DecodeError, type DecodeFindings, decode as decodeTyped } from "./schema/decode.js";
import { sizeOf } from "./storage/object-size.js";
import type { ServedResource, Subresource } from "./served-resource.js";
import type { Store } from "./storage/store.js";

/** What the server serves, by group, version and plural. Changes when CustomResourceDefinitions do. */
export class ResourceRegistry implements RouteLookup {
  /** By group, then version, then plural; groups in the order discovery lists them. */
  readonly #groups = new Map<string, Map<string, Map<string, ServedResource>>>();
  readonly #kinds = new Map<string, Set<string>>();
  #generation = 0;

  /** Grows with every change: discovery and OpenAPI documents are made anew when it does. */
  get generation(): number {
    return this.#generation;
  }

  get groups(): ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, ServedResource>>> {
    return this.#groups;
  }

  add(resource: ServedResource): void {
    let versions = this.#groups.get(resource.group);
    if (versions === undefined) this.#groups.set(resource.group, (versions = new Map()));
    let resources = versions.get(resource.version);
    if (resources === undefined) versions.set(resource.version, (resources = new Map()));
    resources.set(resource.resource, resource);
    let kinds = this.#kinds.get(resource.apiVersion);
    if (kinds === undefined) this.#kinds.set(resource.apiVersion, (kinds = new Set()));
    kinds.add(resource.kind);
    this.#generation++;
  }

  /** Keeps the order of versions that a CustomResourceDefinition asks for. */
  remove(group: string, version: string, resource: string): void {
    const versions = this.#groups.get(group);
    const resources = versions?.get(version);
    const removed = resources?.get(resource);
    if (versions === undefined || resources === undefined || removed === undefined) return;
    resources.delete(resource);
    this.#kinds.get(removed.apiVersion)?.delete(removed.kind);
    if (resources.size === 0) versions.delete(version);
    if (versions.size === 0) this.#groups.delete(group);
    this.#generation++;
  }

  resources(group: string, version: string): ReadonlyMap<string, ServedResource> | undefined {
    const versions = this.#groups.get(group);
    return versions === undefined ? undefined : (versions.get(version) ?? NO_RESOURCES);
  }

  find(group: string, version: string, resource: string): ServedResource | undefined {
    return this.#groups.get(group)?.get(version)?.get(resource);
  }

  /** Whether some resource of that version has objects of that kind. */
  knowsKind(apiVersion: string, kind: string): boolean {
    return this.#kinds.get(apiVersion)?.has(kind) ?? false;
  }

  /** Whether all of a group is defined by CustomResourceDefinitions. */
  isCustomGroup(group: string): boolean {
    const [first] = this.#groups.get(group)?.values() ?? [];
    const [resource] = first?.values() ?? [];
    return resource?.custom !== undefined;
  }

  /** Every resource, groups in order. */
  *all(): Generator<ServedResource> {
    for (const versions of this.#groups.values()) for (const resources of versions.values()) yield* resources.values();
  }
}

const NO_RESOURCES: ReadonlyMap<string, ServedResource> = new Map();

/** Group and resource: what storages are told apart by. */
export function storageKeyOf({ group, resource }: Pick<ResourceDefinition, "group" | "resource">): string {
  return `${group}/${resource}`;
}

/** A built-in resource as it is served. */
export function serveBuiltIn(resource: BuiltInResource, store: Store, schemas: BuiltInSchemas): ServedResource {
  const { definition, strategy } = resource;
  const schema = schemas.ofKind(definition.group, definition.kind);
  const apiVersion = apiVersionOf(definition);
  const served: ServedResource = {
    definition,
    group: definition.group,
    version: definition.version,
    resource: definition.resource,
    kind: definition.kind,
    namespaced: definition.namespaced,
    nameFormat: strategy.nameFormat ?? "dns-1123-subdomain",
    customResource: false,
    apiVersion,
    listKind: resource.listKind,
    singular: resource.singular,
    shortNames: resource.shortNames ?? [],
    categories: resource.categories ?? [],
    verbs: new Set(resource.verbs),
    strategy: strategy,
    schema,
    decode: (value, findings, known, isOwned) => {
      const decoded =
        schema === undefined ? copyUntyped(value, findings) : decodeTyped(schema, value, findings, known, isOwned);
      return ordered(decoded, definition.kind, apiVersion);
    },
    storage: store.storage(storageKeyOf(resource.view?.storedAs ?? definition)),
    view: resource.view,
    subresources: new Map(subresourcesOf(resource, definition).map((subresource) => [subresource.name, subresource])),
    timeToLiveMs: resource.timeToLiveMs,
    handle: undefined,
    custom: undefined,
  };
  return served;
}

/** @throws DecodeError when it is nested too deeply. */
function copyUntyped(value: unknown, findings: DecodeFindings | undefined): Record<string, unknown> {
  if (isNestedDeeper(value)) throw new DecodeError(TOO_DEEP);
  const copy = structuredClone(value) as Record<string, unknown>;
  if (findings !== undefined) findings.size += sizeOf(copy);
  return copy;
}

/**
 * The object with its members in the order the API writes them. Manifests have the version before the kind: that may stay, as
 * the text of what is stored begins with the kind anyway.
 */
export function ordered(members: Record<string, unknown>, kind: string, apiVersion: string): KubernetesObject {
  if (isOrdered(members) && members["kind"] === kind && members["apiVersion"] === apiVersion)
    return members as unknown as KubernetesObject;
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = members;
  return { kind, apiVersion, metadata: metadata ?? {}, ...rest };
}

function isOrdered(members: object): boolean {
  let position = 0;
  for (const key in members) {
    if (position === 2) return key === "metadata";
    if (key !== "kind" && key !== "apiVersion") return false;
    position++;
  }
  return false;
}

const STATUS_VERBS = ["get", "patch", "update"] as const;

function subresourcesOf({ strategy }: BuiltInResource, definition: ResourceDefinition): Subresource[] {
  const { group, version, kind, resource } = definition;
  const found: Subresource[] = [];
  if (group === "" && resource === "pods") {
    found.push({ name: "binding", group: "", version: "v1", kind: "Binding", verbs: ["create"] });
    found.push({ name: "eviction", group: "policy", version: "v1", kind: "Eviction", verbs: ["create"] });
    found.push({ name: "log", group: "", version: "v1", kind: "Pod", verbs: ["get"] });
  }
  if (group === "" && resource === "serviceaccounts")
    found.push({
      name: "token",
      group: "authentication.k8s.io",
      version: "v1",
      kind: "TokenRequest",
      verbs: ["create"],
    });
  if (group === "" && resource === "namespaces")
    found.push({ name: "finalize", group, version, kind, verbs: ["update"] });
  if (strategy.status !== undefined) found.push({ name: "status", group, version, kind, verbs: STATUS_VERBS });
  return found;
}

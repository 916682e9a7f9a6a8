import type { ResourceDefinition } from "@kubewright/api";

import type { RouteLookup } from "./route.js";
import type { ServedResource } from "./served-resource.js";
import type { ResourceStorage } from "./storage/resource-storage.js";

/** The served resources by group, version and plural. Changes with CustomResourceDefinitions. */
export class ResourceRegistry implements RouteLookup {
  /** By group, then version, then plural; groups in the order of discovery. */
  readonly #groups = new Map<string, Map<string, Map<string, ServedResource>>>();
  readonly #kinds = new Map<string, Set<string>>();
  #generation = 0;

  /** Increases with every change, so that discovery and OpenAPI documents are rebuilt. */
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
    kinds.add(resource.listKind);
    this.#generation++;
  }

  /** Removes a resource. The order of the remaining versions is unchanged. */
  remove(group: string, version: string, resource: string): void {
    const versions = this.#groups.get(group);
    const resources = versions?.get(version);
    const removed = resources?.get(resource);
    if (versions === undefined || resources === undefined || removed === undefined) return;
    resources.delete(resource);
    this.#kinds.get(removed.apiVersion)?.delete(removed.kind);
    this.#kinds.get(removed.apiVersion)?.delete(removed.listKind);
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

  /** Returns the storage of a resource; `undefined` when the resource is not served. */
  storageOf({ group, version, resource }: ResourceDefinition): ResourceStorage | undefined {
    return this.find(group, version, resource)?.storage;
  }

  /** Whether a resource of that version has the kind, or the list kind. */
  knowsKind(apiVersion: string, kind: string): boolean {
    return (apiVersion === "v1" && kind === "List") || this.#kinds.get(apiVersion)?.has(kind) === true;
  }

  /** Whether CustomResourceDefinitions define the whole group. */
  isCustomGroup(group: string): boolean {
    const [first] = this.#groups.get(group)?.values() ?? [];
    const [resource] = first?.values() ?? [];
    return resource?.custom !== undefined;
  }

  /** Yields every resource, groups in order. */
  *all(): Generator<ServedResource> {
    for (const versions of this.#groups.values()) for (const resources of versions.values()) yield* resources.values();
  }
}

const NO_RESOURCES: ReadonlyMap<string, ServedResource> = new Map();

/** Returns the storage key of a resource: group and resource. */
export function storageKeyOf({ group, resource }: Pick<ResourceDefinition, "group" | "resource">): string {
  return `${group}/${resource}`;
}

import { type ResourceDefinition, type UnstructuredObject, apiVersionOf, defineResource } from "@kubewright/api";
import type { Client } from "@kubewright/client";

import type { ObjectType } from "./object-identity.js";

export type AnyResource = ResourceDefinition<UnstructuredObject>;

interface DiscoveredResource {
  readonly definition: AnyResource;
  /** Whether the resource supports delete, list and watch, which the garbage collector needs. */
  readonly isDeletable: boolean;
}

/** The discovery document of one group version. */
interface DiscoveredGroupVersion {
  readonly document: unknown;
  readonly resources: readonly DiscoveredResource[];
}

/** Groups whose `events` are ignored: events expire soon, and the objects they refer to do not own them. */
const IGNORED_GROUPS_OF_EVENTS: ReadonlySet<string> = new Set(["", "events.k8s.io"]);
const DELETABLE_VERBS = ["delete", "list", "watch"];

/** The resources of an API server, from discovery. */
export class ResourceCatalog {
  readonly #groupVersions = new Map<string, DiscoveredGroupVersion>();
  #byType = new Map<string, AnyResource>();
  #deletable: readonly AnyResource[] = [];

  /** The resources that the garbage collector handles, each in the preferred version of its group. */
  get deletable(): readonly AnyResource[] {
    return this.#deletable;
  }

  /** Returns the resource of that type, if any. */
  find({ apiVersion, kind }: ObjectType): AnyResource | undefined {
    return this.#byType.get(`${apiVersion}/${kind}`);
  }

  /**
   * Reads all resources from the API server. A group version whose resources cannot be read keeps its previous ones.
   *
   * @returns Errors by group version.
   * @throws The error of the group list request; the catalog is unchanged then.
   * @see kubernetes v1.36 client-go discovery ServerPreferredResources
   */
  async refresh(client: Pick<Client, "getRaw">, signal?: AbortSignal): Promise<ReadonlyMap<string, unknown>> {
    const { groups = [] } = (await client.getRaw("/apis", signal)) as ApiGroupList;
    const wanted = [
      [CORE],
      ...groups.map(({ name, versions, preferredVersion }) => {
        const preferredFirst = [preferredVersion ?? versions[0]!, ...versions];
        return [...new Set(preferredFirst.map(({ version }) => version))].map((version) => ({ group: name, version }));
      }),
    ];
    const failures = new Map<string, unknown>();
    const read = async (groupVersion: GroupVersion): Promise<void> => {
      try {
        await this.#read(client, groupVersion, signal);
      } catch (error) {
        signal?.throwIfAborted();
        failures.set(apiVersionOf(groupVersion), error);
      }
    };
    await Promise.all(wanted.flat().map(read));
    const served = new Set(wanted.flat().map(apiVersionOf));
    for (const apiVersion of this.#groupVersions.keys()) {
      if (!served.has(apiVersion)) this.#groupVersions.delete(apiVersion);
    }
    this.#index(wanted);
    return failures;
  }

  /** In the same process an unchanged document is the same object and need not be parsed again. */
  async #read(client: Pick<Client, "getRaw">, groupVersion: GroupVersion, signal?: AbortSignal): Promise<void> {
    const apiVersion = apiVersionOf(groupVersion);
    const document = await client.getRaw(
      groupVersion.group === "" ? `/api/${groupVersion.version}` : `/apis/${apiVersion}`,
      signal,
    );
    if (this.#groupVersions.get(apiVersion)?.document === document) return;
    const { resources = [] } = document as ApiResourceList;
    this.#groupVersions.set(apiVersion, {
      document,
      // Names with a slash are subresources.
      resources: resources
        .filter(({ name }) => !name.includes("/"))
        .map((resource) => discovered(groupVersion, resource)),
    });
  }

  #index(groups: readonly (readonly GroupVersion[])[]): void {
    const byType = new Map<string, AnyResource>();
    const deletable: AnyResource[] = [];
    for (const versions of groups) {
      const seen = new Set<string>();
      for (const groupVersion of versions) {
        for (const { definition, isDeletable } of this.#groupVersions.get(apiVersionOf(groupVersion))?.resources ??
          []) {
          const type = `${apiVersionOf(groupVersion)}/${definition.kind}`;
          if (!byType.has(type)) byType.set(type, definition);
          if (seen.has(definition.resource)) continue;
          seen.add(definition.resource);
          if (isDeletable) deletable.push(definition);
        }
      }
    }
    this.#byType = byType;
    this.#deletable = deletable;
  }
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

const CORE: GroupVersion = { group: "", version: "v1" };

interface ApiGroupList {
  readonly groups?: readonly {
    readonly name: string;
    readonly versions: readonly { readonly version: string }[];
    readonly preferredVersion?: { readonly version: string };
  }[];
}

interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs?: readonly string[];
}

interface ApiResourceList {
  readonly resources?: readonly ApiResource[];
}

function discovered(
  { group, version }: GroupVersion,
  { name, kind, namespaced, verbs = [] }: ApiResource,
): DiscoveredResource {
  const isIgnored = name === "events" && IGNORED_GROUPS_OF_EVENTS.has(group);
  return {
    definition: defineResource<UnstructuredObject>({ group, version, resource: name, kind, namespaced }),
    isDeletable: !isIgnored && DELETABLE_VERBS.every((verb) => verbs.includes(verb)),
  };
}

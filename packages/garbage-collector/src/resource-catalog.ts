import { type ResourceDefinition, type UnstructuredObject, apiVersionOf, defineResource } from "@kubewright/api";
import type { Client } from "@kubewright/client";

import type { ObjectType } from "./object-identity.js";

export type AnyResource = ResourceDefinition<UnstructuredObject>;

interface DiscoveredResource {
  readonly definition: AnyResource;
  /** Can be deleted, listed and watched: what a garbage collector needs. */
  readonly isDeletable: boolean;
}

/** One version of one group, as it was read. */
interface GroupVersion {
  readonly document: unknown;
  readonly resources: readonly DiscoveredResource[];
}

/** Events are as good as gone the moment they are written: what they refer to does not own them. */
const IGNORED_GROUPS_OF_EVENTS: ReadonlySet<string> = new Set(["", "events.k8s.io"]);
const DELETABLE_VERBS = ["delete", "list", "watch"];

/** The resources an API server has, as it says itself. */
export class ResourceCatalog {
  readonly #groupVersions = new Map<string, GroupVersion>();
  #byType = new Map<string, AnyResource>();
  #deletable: readonly AnyResource[] = [];

  /** Those a garbage collector looks after, each in the version its group prefers. */
  get deletable(): readonly AnyResource[] {
    return this.#deletable;
  }

  /** The resource whose objects are of that type, if there is one. */
  find({ apiVersion, kind }: ObjectType): AnyResource | undefined {
    return this.#byType.get(`${apiVersion}/${kind}`);
  }

  /**
   * Reads all there is from the API server. A group whose resources cannot be read keeps those it had.
   *
   * @returns What went wrong, by group and version.
   * @throws what the API server answered when it cannot tell its groups; nothing has changed then.
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
    const read = async (place: Place): Promise<void> => {
      try {
        await this.#read(client, place, signal);
      } catch (error) {
        signal?.throwIfAborted();
        failures.set(apiVersionOf(place), error);
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

  /** In process an unchanged document is the same object, and need not be looked at again. */
  async #read(client: Pick<Client, "getRaw">, place: Place, signal?: AbortSignal): Promise<void> {
    const apiVersion = apiVersionOf(place);
    const document = await client.getRaw(place.group === "" ? `/api/${place.version}` : `/apis/${apiVersion}`, signal);
    if (this.#groupVersions.get(apiVersion)?.document === document) return;
    const { resources = [] } = document as ApiResourceList;
    this.#groupVersions.set(apiVersion, {
      document,
      // Names with a slash are subresources.
      resources: resources.filter(({ name }) => !name.includes("/")).map((resource) => discovered(place, resource)),
    });
  }

  #index(groups: readonly (readonly Place[])[]): void {
    const byType = new Map<string, AnyResource>();
    const deletable: AnyResource[] = [];
    for (const versions of groups) {
      const seen = new Set<string>();
      for (const place of versions) {
        for (const { definition, isDeletable } of this.#groupVersions.get(apiVersionOf(place))?.resources ?? []) {
          const type = `${apiVersionOf(place)}/${definition.kind}`;
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

interface Place {
  readonly group: string;
  readonly version: string;
}

const CORE: Place = { group: "", version: "v1" };

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
  { group, version }: Place,
  { name, kind, namespaced, verbs = [] }: ApiResource,
): DiscoveredResource {
  const isIgnored = name === "events" && IGNORED_GROUPS_OF_EVENTS.has(group);
  return {
    definition: defineResource<UnstructuredObject>({ group, version, resource: name, kind, namespaced }),
    isDeletable: !isIgnored && DELETABLE_VERBS.every((verb) => verbs.includes(verb)),
  };
}

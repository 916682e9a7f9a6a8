import type { ResourceDefinition, UnstructuredObject } from "@kubewright/api";
import { type Client, StatusError } from "@kubewright/client";

interface ApiResourceList {
  readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
}

/** The resources that a cluster serves, requested once per group and version. */
export class Discovery {
  readonly #client: Client;
  readonly #lists = new Map<string, Promise<ApiResourceList | undefined>>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Returns the resource of an object; `undefined` when the cluster does not serve it. */
  async find({
    apiVersion = "",
    kind = "",
  }: UnstructuredObject): Promise<ResourceDefinition<UnstructuredObject> | undefined> {
    const found = (await this.#resources(apiVersion)).find((resource) => resource.kind === kind);
    if (found === undefined) return undefined;
    const [group, version] = apiVersion.includes("/") ? (apiVersion.split("/") as [string, string]) : ["", apiVersion];
    return { group, version, resource: found.name, kind, namespaced: found.namespaced };
  }

  /** Returns every kind of every group and version. */
  async served(): Promise<{ readonly apiVersion: string; readonly kind: string }[]> {
    const groups = (await this.#client.getRaw("/apis")) as { groups: { versions: { groupVersion: string }[] }[] };
    const versions = ["v1", ...groups.groups.flatMap((group) => group.versions.map((version) => version.groupVersion))];
    const kinds: { readonly apiVersion: string; readonly kind: string }[] = [];
    for (const apiVersion of versions)
      for (const { kind } of await this.#resources(apiVersion)) kinds.push({ apiVersion, kind });
    return kinds;
  }

  async #resources(apiVersion: string): Promise<ApiResourceList["resources"]> {
    let list = this.#lists.get(apiVersion);
    if (list === undefined) this.#lists.set(apiVersion, (list = this.#discover(apiVersion)));
    const known = await list;
    // Not cached: a CustomResourceDefinition that is created later may serve it.
    if (known === undefined) this.#lists.delete(apiVersion);
    return known?.resources.filter(({ name }) => !name.includes("/")) ?? [];
  }

  async #discover(apiVersion: string): Promise<ApiResourceList | undefined> {
    if (!/^[A-Za-z0-9.-]+(\/[A-Za-z0-9.-]+)?$/.test(apiVersion)) return undefined;
    try {
      const path = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
      return (await this.#client.getRaw(path)) as ApiResourceList;
    } catch (error) {
      if (error instanceof StatusError) return undefined;
      throw error;
    }
  }
}

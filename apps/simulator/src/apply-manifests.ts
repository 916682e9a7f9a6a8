import { type ResourceDefinition, type UnstructuredObject, namespaces } from "@kubewright/api";
import { type Client, StatusError, isAlreadyExists } from "@kubewright/client";

import type { Manifest } from "./manifests.js";
import { UserError } from "./user-error.js";

interface ApiResourceList {
  resources: { name: string; kind: string; namespaced: boolean }[];
}

/**
 * Creates the objects in the order given, in the namespace `default` unless they name one. Namespaces that are named but
 * not among the manifests are created first.
 *
 * @throws UserError naming file and line for a kind the cluster does not serve and for whatever the API server refuses.
 */
export async function applyManifests(client: Client, manifests: readonly Manifest[]): Promise<void> {
  const resources = new Map<string, Promise<ApiResourceList | undefined>>();
  const made = new Set(["default"]);
  for (const { object, source } of manifests) {
    const definition = await findResource(client, object, resources);
    if (definition === undefined)
      throw new UserError(`${source}: this cluster does not know kind ${object.kind} in ${object.apiVersion}`);
    const namespace = object.metadata.namespace ?? "default";
    try {
      if (definition.namespaced && !made.has(namespace)) {
        await createNamespace(client, namespace);
        made.add(namespace);
      }
      await client
        .resource(definition)
        .create(
          object,
          definition.namespaced ? { namespace, fieldManager: "kubewright" } : { fieldManager: "kubewright" },
        );
    } catch (error) {
      if (error instanceof StatusError) throw new UserError(`${source}: ${error.message}`, { cause: error });
      throw error;
    }
  }
}

async function createNamespace(client: Client, name: string): Promise<void> {
  try {
    await client.resource(namespaces).create({ metadata: { name } });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** The resource an object belongs to; `undefined` when the cluster serves none. */
export async function findResource(
  client: Client,
  { apiVersion = "", kind = "" }: UnstructuredObject,
  lists = new Map<string, Promise<ApiResourceList | undefined>>(),
): Promise<ResourceDefinition<UnstructuredObject> | undefined> {
  if (!lists.has(apiVersion)) lists.set(apiVersion, discover(client, apiVersion));
  const list = await lists.get(apiVersion);
  const found = list?.resources.find((resource) => resource.kind === kind && !resource.name.includes("/"));
  if (found === undefined) return undefined;
  const [group, version] = apiVersion.includes("/") ? (apiVersion.split("/") as [string, string]) : ["", apiVersion];
  return { group, version, resource: found.name, kind, namespaced: found.namespaced };
}

async function discover(client: Client, apiVersion: string): Promise<ApiResourceList | undefined> {
  if (!/^[A-Za-z0-9.-]+(\/[A-Za-z0-9.-]+)?$/.test(apiVersion)) return undefined;
  try {
    return (await client.getRaw(
      apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`,
    )) as ApiResourceList;
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

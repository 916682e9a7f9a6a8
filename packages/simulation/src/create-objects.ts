import { type UnstructuredObject, namespaces } from "@kubewright/api";
import { type Client, isAlreadyExists } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";

import { Discovery } from "./discovery.js";

/**
 * Thrown for a plan that cannot be run. The message names the object or event, the field, and what to write instead.
 */
export class PlanError extends Error {
  override readonly name = "PlanError";
}

/** Kinds that take effect only shortly after their creation, in order of creation. */
const CREATION_ORDER: readonly (readonly string[])[] = [
  ["Namespace"],
  ["CustomResourceDefinition"],
  ["LimitRange", "PriorityClass", "ResourceQuota", "StorageClass"],
];

/**
 * Creates objects as `kubectl apply` does: namespaces before the objects in them, and CustomResourceDefinitions, whose
 * resources it waits for, before custom resources.
 *
 * @throws PlanError for an object that the API server does not know or refuses.
 */
export async function createObjects(
  client: Client,
  objects: readonly UnstructuredObject[],
  clock: Pick<Clock, "sleep">,
): Promise<void> {
  const discovery = new Discovery(client);
  const existingNamespaces = new Set(["default"]);
  const ordered = [...objects].sort((a, b) => rankOf(a) - rankOf(b));
  let previousRank = 0;
  for (const object of ordered) {
    const rank = rankOf(object);
    if (rank > previousRank && previousRank > 0) await clock.sleep(0);
    previousRank = rank;
    await create(client, object, { discovery, existingNamespaces });
  }
}

async function create(
  client: Client,
  object: UnstructuredObject,
  { discovery, existingNamespaces }: { readonly discovery: Discovery; readonly existingNamespaces: Set<string> },
): Promise<void> {
  const { apiVersion = "", kind = "", metadata } = object;
  const definition = await discovery.find(object);
  if (definition === undefined)
    throw new PlanError(`manifests: ${kind} ${metadata.name ?? ""}: the cluster knows no ${kind} in ${apiVersion}`);
  const { namespace = "default" } = metadata;
  try {
    if (definition.namespaced && !existingNamespaces.has(namespace)) {
      await client
        .resource(namespaces)
        .create({ metadata: { name: namespace } })
        .catch(ignoreAlreadyExists);
      existingNamespaces.add(namespace);
    }
    await client
      .resource(definition)
      .create(object, definition.namespaced ? { namespace } : {})
      .catch(ignoreAlreadyExists);
    if (kind === "Namespace") existingNamespaces.add(metadata.name ?? "");
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new PlanError(`manifests: ${kind} ${metadata.name ?? ""}: ${message}`, { cause: error });
  }
}

function ignoreAlreadyExists(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}

/** Reports whether other objects can be created only after this one. */
export function isPrerequisite(object: UnstructuredObject): boolean {
  return rankOf(object) < CREATION_ORDER.length;
}

function rankOf({ kind }: UnstructuredObject): number {
  const rank = CREATION_ORDER.findIndex((kinds) => kinds.includes(kind ?? ""));
  return rank < 0 ? CREATION_ORDER.length : rank;
}

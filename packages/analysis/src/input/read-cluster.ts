import {
  type DeepReadonly,
  type KubernetesObject,
  type ResourceDefinition,
  type UnstructuredObject,
  cronJobs,
  jobs,
  mutableCopy,
  pods,
} from "@kubewright/api";
import { type Client, errorMessage, reasonOf } from "@kubewright/client";

import { ClusterError } from "../errors/cluster-error.js";
import { type Manifest, manifestAt } from "./manifest.js";

export interface ReadClusterOptions {
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  /** Selects CronJobs and Jobs without a CronJob. Default: all. */
  readonly labelSelector?: string | undefined;
  readonly signal: AbortSignal;
}

/** Objects in one response. */
const PAGE = 500;
/** Maximum number of objects of one kind. */
const MAX_OBJECTS = 200_000;

/**
 * Reads the CronJobs, Jobs and pods of Jobs of a cluster, only with LIST requests.
 *
 * @throws ClusterError when the cluster does not answer or refuses.
 */
export async function readCluster(
  client: Client,
  { namespace, labelSelector, signal }: ReadClusterOptions,
): Promise<Manifest[]> {
  const list = <T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    selector: string | undefined,
  ): Promise<Manifest[]> => listAll(client, definition, { namespace, labelSelector: selector, signal });
  const chosen = await list(cronJobs, labelSelector);
  const uids = new Set(chosen.map(({ object }) => object.metadata.uid));
  const selected = new Set((labelSelector === undefined ? [] : await list(jobs, labelSelector)).map(uidOf));
  const ofThem = (await list(jobs, undefined)).filter(
    (job) => labelSelector === undefined || selected.has(uidOf(job)) || isOwned(job, uids),
  );
  for (const job of ofThem) uids.add(uidOf(job));
  // Pods of Jobs have this label in every version.
  const podsOfJobs = (await list(pods, "job-name")).filter((pod) => isOwned(pod, uids));
  return [...chosen, ...ofThem, ...podsOfJobs];
}

function uidOf({ object }: Manifest): string | undefined {
  return object.metadata.uid;
}

function isOwned({ object }: Manifest, owners: ReadonlySet<string | undefined>): boolean {
  return object.metadata.ownerReferences?.some(({ uid }) => owners.has(uid)) ?? false;
}

async function listAll<T extends KubernetesObject>(
  client: Client,
  definition: ResourceDefinition<T>,
  options: ReadClusterOptions,
): Promise<Manifest[]> {
  const { group, version, resource, kind } = definition;
  const apiVersion = group === "" ? version : `${group}/${version}`;
  const found: Manifest[] = [];
  for (let next: string | undefined; ;) {
    let page;
    try {
      page = await client.resource(definition).list({ ...options, limit: PAGE, continue: next });
    } catch (error) {
      if (options.signal.aborted) throw error;
      const text = errorMessage(error).split("\n", 1)[0]!;
      throw new ClusterError(reasonOf(error) === undefined ? `cannot list ${resource}: ${text}` : text, {
        cause: error,
      });
    }
    for (const item of page.items as readonly DeepReadonly<KubernetesObject>[]) {
      const object = { ...mutableCopy(item), apiVersion, kind } as UnstructuredObject;
      found.push(manifestAt(object, `${kind} ${object.metadata.namespace}/${object.metadata.name}`));
    }
    next = page.metadata.continue || undefined;
    if (next === undefined) return found;
    if (found.length >= MAX_OBJECTS)
      throw new ClusterError(`there are more than ${MAX_OBJECTS} ${resource}; choose some with -n or -l`);
  }
}

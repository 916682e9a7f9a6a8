import {
  type CronJob,
  type DeepReadonly,
  type Event,
  type Job,
  type KubernetesObject,
  type Pod,
  type ResourceDefinition,
  cronJobs,
  events,
  formatLabelSelector,
  getControllerOf,
  jobs,
  pods,
} from "@kubewright/api";
import { type Client, type ListOptions, errorMessage, isForbidden, isNotFound, reasonOf } from "@kubewright/client";

import { ClusterError } from "../errors/cluster-error.js";

const PAGE_SIZE = 500;
/** Maximum number of pages read of one list: 50,000 objects. */
const MAX_PAGES = 100;
/** Maximum number of pods whose events are read: the newest that wait or have failed. */
const MAX_PODS_WITH_EVENTS = 5;

/** Reads the objects that an explanation needs, with GET and LIST requests only. */
export class ClusterReader {
  readonly #client: Client;
  readonly #namespace: string;
  readonly #signal: AbortSignal;

  constructor(client: Client, { namespace, signal }: { readonly namespace: string; readonly signal: AbortSignal }) {
    this.#client = client;
    this.#namespace = namespace;
    this.#signal = signal;
  }

  /** @throws ClusterError, also when the CronJob does not exist. */
  cronJob(name: string): Promise<DeepReadonly<CronJob>> {
    return this.#get(cronJobs, name);
  }

  /** Returns `undefined` when the CronJob does not exist. @throws ClusterError for any other error. */
  async cronJobIfAny(name: string): Promise<DeepReadonly<CronJob> | undefined> {
    try {
      return await this.#client.resource(cronJobs).get(name, this.#options());
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw toClusterError(error, `get cronjobs/${name}`);
    }
  }

  job(name: string): Promise<DeepReadonly<Job>> {
    return this.#get(jobs, name);
  }

  /** Returns all Jobs of the namespace. @throws ClusterError */
  async jobs(): Promise<readonly DeepReadonly<Job>[]> {
    try {
      return await this.#list(jobs, {});
    } catch (error) {
      throw toClusterError(error, `list jobs in namespace ${this.#namespace}`);
    }
  }

  /** Returns the pods that the Job's selector matches; `undefined` without permission. @throws ClusterError */
  podsOf(job: DeepReadonly<Job>): Promise<readonly DeepReadonly<Pod>[] | undefined> {
    const selector = job.spec?.selector;
    // Only a Job without the server's defaults has no selector: it has no pods.
    if (selector === undefined) return Promise.resolve([]);
    return this.#ifAllowed("list pods", () => this.#list(pods, { labelSelector: formatLabelSelector(selector) }));
  }

  /** Returns the events of an object; `undefined` without permission. @throws ClusterError */
  eventsOf({ metadata }: DeepReadonly<KubernetesObject>): Promise<readonly DeepReadonly<Event>[] | undefined> {
    return this.#ifAllowed("list events", () =>
      this.#list(events, { fieldSelector: `involvedObject.uid=${metadata.uid ?? ""}` }),
    );
  }

  /** Returns the Job's own events, and warnings of pods that wait or have failed. */
  async eventsOfJob(
    job: DeepReadonly<Job>,
    candidates: readonly DeepReadonly<Pod>[],
  ): Promise<readonly DeepReadonly<Event>[] | undefined> {
    const own = await this.eventsOf(job);
    if (own === undefined) return undefined;
    const unhealthy = candidates
      .filter((pod) => getControllerOf(pod)?.uid === job.metadata.uid)
      .filter(({ status }) => status?.phase === "Pending" || status?.phase === "Failed")
      .sort((a, b) => ((a.metadata.creationTimestamp ?? "") < (b.metadata.creationTimestamp ?? "") ? 1 : -1))
      .slice(0, MAX_PODS_WITH_EVENTS);
    const found = await Promise.all(unhealthy.map((pod) => this.eventsOf(pod)));
    return [...own, ...found.flatMap((list) => (list ?? []).filter(({ type }) => type === "Warning"))];
  }

  async #get<T extends KubernetesObject>(definition: ResourceDefinition<T>, name: string): Promise<DeepReadonly<T>> {
    try {
      return await this.#client.resource(definition).get(name, this.#options());
    } catch (error) {
      throw toClusterError(error, `get ${definition.resource}/${name}`);
    }
  }

  async #ifAllowed<T>(action: string, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (isForbidden(error)) return undefined;
      throw toClusterError(error, `${action} in namespace ${this.#namespace}`);
    }
  }

  async #list<T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    query: Pick<ListOptions, "labelSelector" | "fieldSelector">,
  ): Promise<readonly DeepReadonly<T>[]> {
    const items: DeepReadonly<T>[] = [];
    let next: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const list = await this.#client
        .resource(definition)
        .list({ ...this.#options(), ...query, limit: PAGE_SIZE, continue: next });
      items.push(...(list.items as readonly DeepReadonly<T>[]));
      next = list.metadata.continue || undefined;
      if (next === undefined) return items;
    }
    throw new ClusterError(
      `there are more than ${PAGE_SIZE * MAX_PAGES} ${definition.resource} in namespace ${this.#namespace}: too many to explain`,
    );
  }

  #options(): { namespace: string; signal: AbortSignal } {
    return { namespace: this.#namespace, signal: this.#signal };
  }
}

/** Returns an error of the server or the connection as one line that names the step. */
function toClusterError(error: unknown, step: string): Error {
  if (error instanceof ClusterError) return error;
  if (reasonOf(error) === "Unauthorized")
    return new ClusterError(`cannot ${step}: the server does not accept these credentials`, { cause: error });
  const text = errorMessage(error).split("\n", 1)[0]!;
  // The server's message names the object or the missing permission.
  const message = reasonOf(error) === undefined ? `cannot ${step}: ${text}` : text;
  return new ClusterError(message, { cause: error });
}

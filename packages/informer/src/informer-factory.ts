import type { KubernetesObject, ResourceDefinition } from "@kubewright/api";
import type { Client } from "@kubewright/client";
import type { Clock, Random } from "@kubewright/clock";

import type { InformerError } from "./informer-error.js";
import type { InformerMetricsProvider } from "./informer-metrics.js";
import { SharedInformer } from "./shared-informer.js";
import type { AnyTransform } from "./transform.js";

export interface InformerFactoryOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** Restricts every informer. Absent: all namespaces. */
  readonly namespace?: string | undefined;
  /** Default 0: never. kube-controller-manager uses 12 to 24 hours. */
  readonly resyncMs?: number | undefined;
  readonly transform?: AnyTransform | undefined;
  readonly minWatchTimeoutMs?: number | undefined;
  readonly watchList?: boolean | undefined;
  readonly internalErrorRetryMs?: number | undefined;
  /** Label of the informers' metrics, such as the program's name. Informers of a factory without one are not measured. */
  readonly informerName?: string | undefined;
  readonly metrics?: InformerMetricsProvider | undefined;
  readonly onError?: ((error: InformerError) => void) | undefined;
}

/**
 * One informer per resource, however many ask for it.
 *
 * @see kubernetes v1.36 client-go informers/factory.go
 */
export class InformerFactory {
  readonly name = "informers";
  readonly #options: InformerFactoryOptions;
  readonly #informers = new Map<string, SharedInformer<KubernetesObject>>();
  readonly #running: Promise<void>[] = [];
  #signal: AbortSignal | undefined;

  /** @throws Error when the informers' name is empty. */
  constructor(options: InformerFactoryOptions) {
    if (options.informerName === "") throw new Error("informer name cannot be empty");
    this.#options = options;
  }

  /**
   * The informer of a resource, made when first asked for. Unlike upstream's it starts by itself when the factory is
   * running already, so that nobody waits for a cache that was never started.
   */
  informerFor<T extends KubernetesObject>(definition: ResourceDefinition<T>): SharedInformer<T> {
    const key = `${definition.group}/${definition.version}/${definition.resource}`;
    const known = this.#informers.get(key);
    if (known !== undefined) return known as unknown as SharedInformer<T>;
    const { client, random, transform, informerName, metrics, ...options } = this.#options;
    const { group, version, resource } = definition;
    const informer = new SharedInformer<T>({
      ...options,
      client: client.resource(definition),
      random: random.fork(`informer ${key}`),
      metrics:
        informerName === undefined ? undefined : metrics?.forInformer({ name: informerName, group, version, resource }),
      ...(transform === undefined ? {} : { transform: (object) => transform<T>(object) }),
    });
    this.#informers.set(key, informer as unknown as SharedInformer<KubernetesObject>);
    if (this.#signal !== undefined && !this.#signal.aborted) this.#running.push(informer.run(this.#signal));
    return informer;
  }

  /**
   * Runs all informers, those asked for later too, until `signal` aborts; resolves when all have stopped.
   *
   * @throws Error when called a second time.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#signal !== undefined) throw new Error("the informers were started already: a factory runs once");
    this.#signal = signal;
    for (const informer of this.#informers.values()) this.#running.push(informer.run(signal));
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    await Promise.all(this.#running);
  }

  /** Resolves when every informer asked for so far has synced. @throws the signal's reason when it aborts first. */
  async waitForCacheSync(signal?: AbortSignal): Promise<void> {
    await Promise.all(Array.from(this.#informers.values(), (informer) => informer.waitForSync(signal)));
  }
}

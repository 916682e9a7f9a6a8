import { type DeepReadonly, type KubernetesObject, type ResourceDefinition, definitionKey } from "@kubewright/api";
import type { ReaderFactory } from "@kubewright/client";

import { ChangeFeed, type ChangeListener } from "./change-feed.js";
import { errorReporter } from "./error-reporter.js";
import type { InformerError } from "./informer-error.js";
import type { InformerMetricsProvider } from "./informer-metrics.js";
import type { InformerSourceFactory } from "./informer-source.js";
import { SharedInformer, type SharedInformerOptions } from "./shared-informer.js";
import type { AnyTransform } from "./transform.js";

export interface InformerFactoryOptions extends Pick<
  SharedInformerOptions<KubernetesObject>,
  | "clock"
  | "random"
  | "namespace"
  | "shard"
  | "consistentFirstList"
  | "resyncMs"
  | "minWatchTimeoutMs"
  | "watchList"
  | "internalErrorRetryMs"
> {
  readonly client: ReaderFactory;
  readonly transform?: AnyTransform | undefined;
  /** Label of the informers' metrics, such as the program's name. Without a name there are no measurements. */
  readonly informerName?: string | undefined;
  readonly metrics?: InformerMetricsProvider | undefined;
  /**
   * Creates the source of each informer's cache, in place of its own lists and watches. Returns `undefined` to use the
   * default for an informer.
   */
  readonly createSource?: InformerSourceFactory | undefined;
  /** Called with every new informer, before any other code can use it. */
  readonly onInformer?:
    ((informer: SharedInformer<KubernetesObject>, definition: ResourceDefinition) => void) | undefined;
  /** Called with every error. Default: writes to standard error, an identical error at most once a minute. */
  readonly onError?: ((error: InformerError) => void) | undefined;
}

/**
 * Creates one informer per resource, and shares it between all callers.
 *
 * @see kubernetes v1.36 client-go informers/factory.go
 */
export class InformerFactory {
  readonly name = "informers";
  readonly #options: InformerFactoryOptions;
  readonly #informers = new Map<string, SharedInformer<KubernetesObject>>();
  /** Informers and feeds, in the order in which they were requested. */
  readonly #runnables: { run(signal: AbortSignal): Promise<void> }[] = [];
  readonly #running: Promise<void>[] = [];
  #signal: AbortSignal | undefined;

  /** @throws Error if the informers' name is empty. */
  constructor(options: InformerFactoryOptions) {
    if (options.informerName === "") throw new Error("informer name cannot be empty");
    this.#options = options;
  }

  /**
   * Returns the informer of a resource, and creates it at the first call. If the factory is running, the informer
   * starts automatically, unlike upstream's, so that no caller waits for a cache that was never started.
   */
  informerFor<T extends KubernetesObject>(definition: ResourceDefinition<T>): SharedInformer<T> {
    const key = definitionKey(definition);
    const known = this.#informers.get(key);
    if (known !== undefined) return known as unknown as SharedInformer<T>;
    const { informerName, metrics, createSource } = this.#options;
    const { group, version, resource } = definition;
    const informer = new SharedInformer<T>({
      ...this.#optionsFor(definition),
      ...(createSource === undefined ? {} : { source: (target) => createSource(definition, target) }),
      metrics:
        informerName === undefined ? undefined : metrics?.forInformer({ name: informerName, group, version, resource }),
    });
    this.#informers.set(key, informer as unknown as SharedInformer<KubernetesObject>);
    this.#options.onInformer?.(informer as unknown as SharedInformer<KubernetesObject>, definition);
    this.#start(informer);
    return informer;
  }

  /**
   * Delivers every object of a resource that exists, is added or changes, without a cache. Existing objects come first.
   * Changes missed during a gap are delivered after it. Starts with the informers, or immediately if they are running.
   */
  follow<T extends KubernetesObject>(definition: ResourceDefinition<T>, listener: ChangeListener<T>): void {
    const onError = errorReporter(this.#options.clock, this.#options.onError);
    this.#start(new ChangeFeed<T>({ ...this.#optionsFor(definition), onError }, listener));
  }

  /**
   * Runs all informers, including those requested later, until `signal` aborts. Resolves when all have stopped. Keeps
   * the process alive meanwhile.
   *
   * @throws Error when called a second time.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#signal !== undefined) throw new Error("the informers were started already: a factory runs once");
    this.#signal = signal;
    for (const each of this.#runnables) this.#running.push(each.run(signal));
    const release = this.#options.clock.keepAlive();
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    release();
    await Promise.all(this.#running);
  }

  /** Resolves when every informer requested so far has synced. @throws the signal's reason when it aborts first. */
  async waitForCacheSync(signal?: AbortSignal): Promise<void> {
    await Promise.all(Array.from(this.#informers.values(), (informer) => informer.waitForSync(signal)));
  }

  #optionsFor<T extends KubernetesObject>(definition: ResourceDefinition<T>) {
    const { client, random, transform, ...rest } = this.#options;
    return {
      ...rest,
      client: client.resource(definition),
      random: random.fork(`informer ${definitionKey(definition)}`),
      ...(transform === undefined ? {} : { transform: (object: DeepReadonly<T>) => transform<T>(object, definition) }),
    };
  }

  #start(runnable: { run(signal: AbortSignal): Promise<void> }): void {
    this.#runnables.push(runnable);
    if (this.#signal !== undefined && !this.#signal.aborted) this.#running.push(runnable.run(this.#signal));
  }
}

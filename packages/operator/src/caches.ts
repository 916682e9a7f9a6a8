import { type KubernetesObject, type ResourceDefinition, definitionKey, qualifiedResource } from "@kubewright/api";
import { type ReaderFactory, errorMessage } from "@kubewright/client";
import type { Clock, Random } from "@kubewright/clock";
import type { Runnable } from "@kubewright/controller";
import {
  type InformerError,
  InformerFactory,
  type InformerFactoryOptions,
  type SharedInformer,
} from "@kubewright/informer";

import type { CacheNarrowing, CacheNarrowings } from "./cache-narrowing.js";
import { narrowedReaders, narrowedTransform } from "./narrowed-reads.js";

export interface CachesOptions {
  readonly client: ReaderFactory;
  readonly clock: Clock;
  readonly random: Random;
  /** Empty: all namespaces. */
  readonly namespaces: readonly string[];
  readonly narrowings: CacheNarrowings;
  readonly onError: (error: InformerError) => void;
  /** Called with every informer when it is created. */
  readonly onInformer?: InformerFactoryOptions["onInformer"];
  readonly resyncMs: number | undefined;
  /** Informers to use instead of new ones; they must cover everything that is read, and be narrowed in the same way. */
  readonly informers?: InformerFactory | undefined;
}

/** Scope of all namespaces, and of cluster-scoped objects. */
const EVERYWHERE = "";

/**
 * The informers of one operator. A namespaced resource has one for each namespace that the operator is restricted to,
 * any other resource has one. Objects are cached without `managedFields`.
 */
export class Caches {
  readonly #options: CachesOptions;
  readonly #factories = new Map<string, InformerFactory>();
  readonly #informers = new Map<string, readonly SharedInformer<KubernetesObject>[]>();
  readonly #definitions = new Map<string, ResourceDefinition>();
  /** The last error of a list or watch. */
  #lastReadError: InformerError | undefined;

  constructor(options: CachesOptions) {
    this.#options = options;
    if (options.informers !== undefined) {
      this.#factories.set(EVERYWHERE, options.informers);
      return;
    }
    for (const namespace of [EVERYWHERE, ...options.namespaces]) this.#factoryFor(namespace);
  }

  /** The scopes of a resource's caches: namespaces, or `""` for all of them. */
  scopesOf(definition: ResourceDefinition): readonly string[] {
    if (!definition.namespaced) return [EVERYWHERE];
    const { namespaces } = this.#options;
    const narrowed = this.narrowingOf(definition)?.namespaces ?? [];
    if (narrowed.length === 0) return namespaces.length > 0 ? namespaces : [EVERYWHERE];
    return namespaces.length > 0 ? namespaces.filter((each) => narrowed.includes(each)) : narrowed;
  }

  /** `undefined`: the resource is cached as a whole. */
  narrowingOf(definition: ResourceDefinition): CacheNarrowing | undefined {
    return this.#options.narrowings.get(definitionKey(definition));
  }

  /** Whether the cache has every object of the resource, with all fields but `managedFields`. */
  isComplete(definition: ResourceDefinition): boolean {
    return this.has(definition) && definition.metadataOnly !== true && this.narrowingOf(definition) === undefined;
  }

  /** Adds informers for a resource, unless it has them already. */
  add<T extends KubernetesObject>(definition: ResourceDefinition<T>): readonly SharedInformer<T>[] {
    const scopes = this.scopesOf(definition);
    if (scopes.length === 0)
      throw new Error(
        `the cache of ${qualifiedResource(definition)} is narrowed to ${this.narrowingOf(definition)?.namespaces?.join()}, none of the operator's namespaces ${this.#options.namespaces.join()}`,
      );
    const informers = scopes.map((scope) => this.#factoryFor(scope).informerFor(definition));
    this.#definitions.set(definitionKey(definition), definition);
    this.#informers.set(definitionKey(definition), informers as unknown as SharedInformer<KubernetesObject>[]);
    return informers;
  }

  /** @throws Error when the resource is not cached. */
  informersOf<T extends KubernetesObject>(definition: ResourceDefinition<T>): readonly SharedInformer<T>[] {
    const informers = this.#informers.get(definitionKey(definition));
    if (informers === undefined) {
      const { kind } = definition;
      throw new Error(
        `${qualifiedResource(definition)} (kind ${kind}) is not in the cache: let a controller say .reads(…), .owns(…) or .watches(…)`,
      );
    }
    return informers as unknown as readonly SharedInformer<T>[];
  }

  has(definition: ResourceDefinition): boolean {
    return this.#informers.has(definitionKey(definition));
  }

  /** Definitions of all cached resources. */
  get definitions(): readonly ResourceDefinition[] {
    return [...this.#definitions.values()];
  }

  get hasSynced(): boolean {
    return [...this.#informers.values()].flat().every(({ hasSynced }) => hasSynced);
  }

  get runnables(): readonly Runnable[] {
    return [...this.#factories.values()];
  }

  /**
   * Waits until all caches are filled.
   *
   * @param limitMs - Longest wait in milliseconds; may be Infinity.
   * @throws Error with the caches that are not filled by then, or the signal's reason.
   */
  async waitForSync(limitMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const late = Promise.withResolvers<never>();
    const timer =
      limitMs < Infinity
        ? clock.setTimer(limitMs, () => late.reject(this.#syncTimeoutError(limitMs)), { background: true })
        : undefined;
    const filled = Array.from(this.#factories.values(), (factory) => factory.waitForCacheSync(signal));
    try {
      await Promise.race([Promise.all(filled), late.promise]);
    } finally {
      timer?.cancel();
    }
  }

  #factoryFor(namespace: string): InformerFactory {
    const known = this.#factories.get(namespace);
    if (known !== undefined) return known;
    const { client, clock, random, resyncMs, narrowings, onInformer, onError } = this.#options;
    const factory = new InformerFactory({
      client: narrowedReaders(client, narrowings),
      clock,
      random: random.fork(`informers ${namespace}`),
      namespace: namespace === EVERYWHERE ? undefined : namespace,
      transform: narrowedTransform(narrowings),
      resyncMs,
      onInformer,
      onError: (error) => {
        if (error.step === "list" || error.step === "watch") this.#lastReadError = error;
        onError(error);
      },
    });
    this.#factories.set(namespace, factory);
    return factory;
  }

  #syncTimeoutError(limitMs: number): Error {
    const missing = [...this.#informers.values()].flat().filter(({ hasSynced }) => !hasSynced);
    const names = [...new Set(missing.map(({ name }) => name.replace(/^informer /, "")))].join(", ");
    const why = this.#lastReadError === undefined ? "" : `: ${errorMessage(this.#lastReadError)}`;
    return new Error(`the cache of ${names} was not filled within ${limitMs / 1000} s${why}`);
  }
}

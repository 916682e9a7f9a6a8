import { type KubernetesObject, type ResourceDefinition, qualifiedResource } from "@kubewright/api";
import { type Client, errorMessage } from "@kubewright/client";
import type { Clock, Random } from "@kubewright/clock";
import type { Runnable } from "@kubewright/controller";
import {
  type InformerError,
  InformerFactory,
  type InformerFactoryOptions,
  type SharedInformer,
  withoutManagedFields,
} from "@kubewright/informer";

export interface CachesOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** Empty: all namespaces. */
  readonly namespaces: readonly string[];
  readonly onError: (error: InformerError) => void;
  /** Called with every informer when it is created. */
  readonly onInformer?: InformerFactoryOptions["onInformer"];
  readonly resyncMs: number | undefined;
  /** Informers to use instead of new ones; they must cover everything that is read. */
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
    for (const namespace of new Set([EVERYWHERE, ...options.namespaces])) {
      const { client, clock, random, resyncMs } = options;
      const factory = new InformerFactory({
        client,
        clock,
        random: random.fork(`informers ${namespace}`),
        namespace: namespace === EVERYWHERE ? undefined : namespace,
        transform: withoutManagedFields,
        resyncMs,
        onInformer: options.onInformer,
        onError: (error) => {
          if (error.step === "list" || error.step === "watch") this.#lastReadError = error;
          options.onError(error);
        },
      });
      this.#factories.set(namespace, factory);
    }
  }

  /** The scopes of a resource's caches: namespaces, or `""` for all of them. */
  scopesOf({ namespaced }: ResourceDefinition): readonly string[] {
    const { namespaces } = this.#options;
    return namespaced && namespaces.length > 0 ? namespaces : [EVERYWHERE];
  }

  /** Adds informers for a resource, unless it has them already. */
  add<T extends KubernetesObject>(definition: ResourceDefinition<T>): readonly SharedInformer<T>[] {
    const informers = this.scopesOf(definition).map((scope) => this.#factories.get(scope)!.informerFor(definition));
    this.#definitions.set(keyOfResource(definition), definition);
    this.#informers.set(keyOfResource(definition), informers as unknown as SharedInformer<KubernetesObject>[]);
    return informers;
  }

  /** @throws Error when the resource is not cached. */
  informersOf<T extends KubernetesObject>(definition: ResourceDefinition<T>): readonly SharedInformer<T>[] {
    const informers = this.#informers.get(keyOfResource(definition));
    if (informers === undefined) {
      const { kind } = definition;
      throw new Error(
        `${qualifiedResource(definition)} (kind ${kind}) is not in the cache: let a controller say .reads(…), .owns(…) or .watches(…)`,
      );
    }
    return informers as unknown as readonly SharedInformer<T>[];
  }

  has(definition: ResourceDefinition): boolean {
    return this.#informers.has(keyOfResource(definition));
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

  #syncTimeoutError(limitMs: number): Error {
    const missing = [...this.#informers.values()].flat().filter(({ hasSynced }) => !hasSynced);
    const names = [...new Set(missing.map(({ name }) => name.replace(/^informer /, "")))].join(", ");
    const why = this.#lastReadError === undefined ? "" : `: ${errorMessage(this.#lastReadError)}`;
    return new Error(`the cache of ${names} was not filled within ${limitMs / 1000} s${why}`);
  }
}

function keyOfResource({ group, version, resource }: ResourceDefinition): string {
  return `${group}/${version}/${resource}`;
}

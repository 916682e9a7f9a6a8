import {
  type KubernetesObject,
  type NamespacedName,
  type ResourceDefinition,
  apiVersionOf,
  objectKey,
  qualifiedResource,
} from "@kubewright/api";
import type { Client } from "@kubewright/client";
import type { Clock, Random } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";
import { type EventHandler, type InformerFactory, SharedInformer } from "@kubewright/informer";

import { metadataOnly } from "./metadata-only.js";
import type { Metadata } from "./object-identity.js";
import type { AnyResource } from "./resource-catalog.js";

export interface MonitorsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Called with the error of a failed event handler. */
  readonly onFailure: ((error: unknown) => void) | undefined;
  readonly informers: InformerFactory;
  /** Resources with shared informers, which are used and never stopped. */
  readonly shared: readonly ResourceDefinition[];
  readonly minWatchTimeoutMs: number | undefined;
  /** Returns the event handler for a resource's objects. */
  readonly handlerFor: (definition: ResourceDefinition) => EventHandler<KubernetesObject>;
}

interface Monitor {
  readonly informer: Pick<SharedInformer<KubernetesObject>, "hasSynced" | "store" | "waitForSync">;
  readonly stop: () => void;
}

/** The caches that feed the graph: one per deletable resource. */
export class Monitors {
  readonly #options: MonitorsOptions;
  readonly #monitors = new Map<string, Monitor>();
  readonly #shared: ReadonlySet<string>;
  readonly #running = new Set<Promise<void>>();

  constructor(options: MonitorsOptions) {
    this.#options = options;
    for (const definition of options.shared) {
      const informer = options.informers.informerFor(definition);
      informer.addEventHandler(options.handlerFor(definition));
      this.#monitors.set(keyOfResource(definition), { informer, stop: () => undefined });
    }
    this.#shared = new Set(this.#monitors.keys());
  }

  /** Starts monitors for new resources and stops those of removed resources. Returns whether anything changed. */
  sync(resources: readonly AnyResource[], signal: AbortSignal): boolean {
    const wanted = new Map(resources.map((definition) => [keyOfResource(definition), definition]));
    let changed = false;
    for (const [key, { stop }] of this.#monitors) {
      if (wanted.has(key) || this.#shared.has(key)) continue;
      this.#monitors.delete(key);
      stop();
      changed = true;
    }
    for (const [key, definition] of wanted) {
      if (this.#monitors.has(key)) continue;
      this.#monitors.set(key, this.#start(key, definition, signal));
      changed = true;
    }
    return changed;
  }

  /** Resolves when all current monitors have synced. @throws the signal's reason when it aborts first. */
  async waitForSync(signal: AbortSignal): Promise<void> {
    await Promise.all(Array.from(this.#monitors.values(), ({ informer }) => informer.waitForSync(signal)));
  }

  /** Returns the cached metadata of the object with that name, if any. */
  cached(definition: AnyResource, place: NamespacedName): Metadata | undefined {
    return this.#monitors.get(keyOfResource(definition))?.informer.store.get(objectKey(place))?.metadata;
  }

  /** Names of the resources whose cache has not synced. */
  get unsynced(): string[] {
    return Array.from(this.#monitors).flatMap(([key, { informer }]) => (informer.hasSynced ? [] : [key]));
  }

  /** Resolves when all monitors have stopped after the abort of the signal they were started with. */
  async stopped(): Promise<void> {
    await Promise.all(this.#running);
  }

  #start(key: string, definition: AnyResource, signal: AbortSignal): Monitor {
    const { client, clock, random, logger, minWatchTimeoutMs, onFailure } = this.#options;
    const informer = new SharedInformer({
      client: client.resource(definition),
      clock,
      random: random.fork(`monitor ${key}`),
      transform: metadataOnly,
      minWatchTimeoutMs,
      onError: (error) => {
        if (error.step === "handler") onFailure?.(error.cause);
        logger.error({ resource: key, err: error.message }, "Monitor failed");
      },
    });
    informer.addEventHandler(this.#options.handlerFor(definition));
    const stop = new AbortController();
    const running = informer.run(AbortSignal.any([signal, stop.signal])).finally(() => this.#running.delete(running));
    this.#running.add(running);
    return { informer, stop: () => stop.abort(new Error(`the API server does not serve ${key} any more`)) };
  }
}

function keyOfResource(definition: ResourceDefinition): string {
  return `${qualifiedResource(definition)} ${apiVersionOf(definition)}`;
}

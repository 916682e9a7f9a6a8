import { type DeepReadonly, type KubernetesObject, qualifiedResource } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";

import { errorReporter } from "./error-reporter.js";
import type { EventHandler } from "./event-handler.js";
import { type Indexers, type NamespaceIndex, namespaceIndex, namespaceIndexValues } from "./indexers.js";
import { InformerError } from "./informer-error.js";
import type { InformerSource } from "./informer-source.js";
import { type InformerMetrics, versionGauge } from "./informer-metrics.js";
import { Latch } from "./latch.js";
import type { Lister } from "./lister.js";
import { keyOfObject, resourceVersionOf } from "./object-metadata.js";
import { Reflector, type ReflectorOptions, type ReflectorTarget } from "./reflector.js";
import { type ResyncEntry, ResyncSchedule } from "./resync-schedule.js";
import { Store } from "./store.js";
import type { DeletedFinalStateUnknown } from "./tombstone.js";

export interface SharedInformerOptions<T extends KubernetesObject, Index extends string = string> extends Omit<
  ReflectorOptions<T>,
  "target" | "onForeignObjects" | "onError"
> {
  /** Indexers besides the namespace index, which always exists. */
  readonly indexers?: Indexers<T, Index> | undefined;
  /** Default resync period of handlers: how often they receive the whole cache again. Default 0: never. */
  readonly resyncMs?: number | undefined;
  /** Default: no measurements. */
  readonly metrics?: InformerMetrics | undefined;
  /**
   * Creates the source of the cache, in place of the informer's own lists and watches. Returns `undefined` to use
   * these.
   */
  readonly source?: ((target: ReflectorTarget<T>) => InformerSource | undefined) | undefined;
  /**
   * Called with every error; the informer continues after all of them. Default: writes to standard error, an identical
   * error at most once a minute.
   */
  readonly onError?: ((error: InformerError) => void) | undefined;
}

/** An informer's cache with its resourceVersion. */
export type InformerStore<T extends KubernetesObject, Index extends string = never> = Lister<
  T,
  NamespaceIndex | Index
> & {
  readonly lastStoreSyncResourceVersion: string;
};

/** The registration of a handler. */
export interface HandlerRegistration {
  /** Whether the handler has received everything that existed when the handler and the informer started. */
  hasSynced(): boolean;
  /** Removes the handler: it is not called any more. Further calls have no effect. */
  remove(): void;
}

interface Listener<T extends KubernetesObject> extends ResyncEntry {
  readonly handler: EventHandler<T>;
  removed: boolean;
}

type Notification<T extends KubernetesObject> =
  | { readonly type: "add"; readonly object: DeepReadonly<T>; readonly isInInitialList: boolean }
  | { readonly type: "update"; readonly old: DeepReadonly<T>; readonly object: DeepReadonly<T> }
  | { readonly type: "delete"; readonly object: DeepReadonly<T> | DeletedFinalStateUnknown<T> };

/**
 * A cache of one resource, updated by a watch and shared by any number of handlers.
 *
 * Handlers are called synchronously, after the cache has changed and before the next change. The error of one handler
 * is reported and does not affect the others. (Upstream runs each handler on a goroutine with a buffer; here a slow
 * handler delays all others.) A running informer ends only when its signal aborts.
 *
 * @see kubernetes v1.36 client-go tools/cache/shared_informer.go, controller.go
 */
export class SharedInformer<T extends KubernetesObject, Index extends string = never> {
  readonly name: string;
  /** The cache. Only the lister returned by {@link addIndexers} has the names of indexes added later in its type. */
  readonly store: InformerStore<T, Index>;
  readonly #store: Store<T, string>;
  readonly #clock: Clock;
  readonly #source: InformerSource;
  readonly #resyncs: ResyncSchedule;
  readonly #resyncMs: number;
  readonly #metrics: InformerMetrics | undefined;
  readonly #onError: (error: InformerError) => void;
  readonly #resource: string;
  readonly #synced = new Latch();
  /** Replaced, never modified, so that a round of calls uses the handlers registered when it began. */
  #listeners: readonly Listener<T>[] = [];
  #state: "new" | "running" | "stopped" = "new";
  /** Whether the store has content. It becomes true before the handlers are called. */
  #populated = false;

  constructor({ indexers, resyncMs = 0, metrics, onError, source, ...options }: SharedInformerOptions<T, Index>) {
    this.#resource = qualifiedResource(options.client.definition);
    this.name = `informer ${this.#resource}`;
    this.#store = new Store({ indexers: { [namespaceIndex]: namespaceIndexValues, ...indexers } });
    this.store = this.#store;
    this.#clock = options.clock;
    this.#resyncMs = resyncMs;
    this.#resyncs = new ResyncSchedule(resyncMs);
    this.#metrics = metrics;
    this.#onError = errorReporter(options.clock, onError);
    this.#recordMetric((measured) => measured.setQueuedItems(0));
    if (options.shard !== undefined) this.#countForeignObjects(0);
    const target = this.#target();
    const onForeignObjects = (count: number): void => this.#countForeignObjects(count);
    this.#source = source?.(target) ?? new Reflector({ ...options, target, onForeignObjects, onError: this.#onError });
  }

  /** Whether the cache has been complete, and the handlers of that time have been called. Never becomes false again. */
  get hasSynced(): boolean {
    return this.#synced.isOpen;
  }

  /**
   * Milliseconds since the server last sent something; `undefined` if it has sent nothing. A healthy watch without
   * changes gets a bookmark about every minute. Much more than a minute therefore means that the cache may be stale.
   */
  get sinceContactMs(): number | undefined {
    const { lastContactMs } = this.#source;
    return lastContactMs === undefined ? undefined : this.#clock.monotonic() - lastContactMs;
  }

  /** @throws the signal's reason when it aborts first, or an Error when the informer stopped before it synced. */
  waitForSync(signal?: AbortSignal): Promise<void> {
    return this.#synced.wait(signal);
  }

  /**
   * Adds a handler, at any time before the informer stops. If the cache has content, the handler receives all existing
   * objects as part of the initial list before this method returns.
   *
   * @param options.resyncMs - How often the handler receives everything again: at least a second, and not more often
   * than the informer checks. Default: the informer's own period; 0: never.
   * @throws Error when the informer has stopped.
   */
  addEventHandler(
    handler: EventHandler<T>,
    { resyncMs = this.#resyncMs }: { readonly resyncMs?: number } = {},
  ): HandlerRegistration {
    if (this.#state === "stopped")
      throw new Error(`handler was not added to shared informer of ${this.#resource} because it has stopped already`);
    const started = this.#state === "running";
    const entry = this.#resyncs.add(resyncMs, { nowMs: this.#clock.monotonic(), started, others: this.#listeners });
    const listener: Listener<T> = { ...entry, handler, removed: false };
    this.#listeners = [...this.#listeners, listener];
    if (this.#populated) {
      for (const object of this.#store.list()) this.#notify([listener], { type: "add", object, isInInitialList: true });
    }
    return {
      hasSynced: () => this.hasSynced,
      remove: () => {
        listener.removed = true;
        this.#listeners = this.#listeners.filter((other) => other !== listener);
      },
    };
  }

  /**
   * Adds indexes, at any time before the informer stops. Skips a name that already has the same function.
   *
   * @returns The cache, with the new names in its type.
   * @throws Error `indexer conflict: <names>` when a name has another function.
   */
  addIndexers<Added extends string>(indexers: Indexers<T, Added>): InformerStore<T, Index | Added> {
    if (this.#state === "stopped") throw new Error("indexer was not added because it has stopped already");
    this.#store.addIndexers(indexers);
    return this.#store;
  }

  /** Lists and watches until `signal` aborts, then resolves. @throws Error when called a second time. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#state !== "new")
      throw new Error(`the sharedIndexInformer of ${this.#resource} has started, run more than once is not allowed`);
    this.#state = "running";
    await this.#source.run(signal, this.#resyncs.checkMs);
    this.#state = "stopped";
    this.#synced.fail(new Error(`the informer of ${this.#resource} stopped before it synced`));
  }

  #target(): ReflectorTarget<T> {
    return {
      replace: (objects, resourceVersion) => this.#withLatencyMeasured(() => this.#replace(objects, resourceVersion)),
      apply: (type, object) =>
        this.#metrics === undefined
          ? this.#apply(type, object)
          : this.#withLatencyMeasured(() => this.#apply(type, object)),
      bookmark: (resourceVersion) => {
        this.#store.bookmark(resourceVersion);
        this.#reportVersion();
      },
      resync: () => this.#withLatencyMeasured(() => this.#resync()),
    };
  }

  #withLatencyMeasured(applyChange: () => void): void {
    const startMs = this.#clock.monotonic();
    try {
      applyChange();
    } finally {
      this.#recordMetric((metrics) => metrics.observeProcessingLatency((this.#clock.monotonic() - startMs) / 1000));
      this.#reportVersion();
    }
  }

  #reportVersion(): void {
    if (this.#metrics === undefined) return;
    const version = versionGauge(this.#store.lastStoreSyncResourceVersion);
    if (!Number.isNaN(version)) this.#recordMetric((metrics) => metrics.setStoreResourceVersion(version));
  }

  #countForeignObjects(count: number): void {
    this.#recordMetric((metrics) => metrics.countForeignObjects?.(count));
  }

  /** An error of the metrics does not affect the change itself. */
  #recordMetric(record: (metrics: InformerMetrics) => void): void {
    if (this.#metrics === undefined) return;
    try {
      record(this.#metrics);
    } catch (error) {
      this.#onError(new InformerError("metrics", `measuring the informer of ${this.#resource} failed`, error));
    }
  }

  #apply(type: "ADDED" | "MODIFIED" | "DELETED", object: DeepReadonly<T>): void {
    if (type === "DELETED") this.#delete(object);
    else this.#put(object);
  }

  #put(object: DeepReadonly<T>): void {
    const old = this.#store.update(object);
    if (old === undefined) this.#notify(this.#listeners, { type: "add", object, isInInitialList: !this.hasSynced });
    else this.#notify(this.#listeners, { type: "update", old, object });
  }

  #delete(object: DeepReadonly<T>): void {
    this.#store.delete(object);
    this.#notify(this.#listeners, { type: "delete", object });
  }

  #replace(objects: Iterable<DeepReadonly<T>>, resourceVersion: string): void {
    const { vanished, present } = this.#store.replace(objects, resourceVersion);
    this.#populated = true;
    // A handler added by another handler has received all objects when it was added, so it is not part of this round.
    const listeners = this.#listeners;
    for (const { key, object } of vanished) {
      this.#notify(listeners, { type: "delete", object: { kind: "DeletedFinalStateUnknown", key, object } });
    }
    for (const { old, object } of present) {
      if (old === undefined) this.#notify(listeners, { type: "add", object, isInInitialList: !this.hasSynced });
      else this.#notify(listeners, { type: "update", old, object });
    }
    this.#synced.open();
  }

  #resync(): void {
    if (!this.#resyncs.check(this.#listeners, this.#clock.monotonic())) return;
    const listeners = this.#listeners;
    for (const object of this.#store.list()) this.#notify(listeners, { type: "update", old: object, object });
  }

  #notify(listeners: readonly Listener<T>[], notification: Notification<T>): void {
    const unchanged =
      notification.type === "update" && resourceVersionOf(notification.old) === resourceVersionOf(notification.object);
    for (const listener of listeners) {
      if (listener.removed || (unchanged && !listener.syncing)) continue;
      try {
        const returned = deliver(listener.handler, notification);
        // Handlers are not awaited, but an unhandled rejection would end the process.
        if (returned instanceof Promise) returned.catch((error: unknown) => this.#handlerFailed(notification, error));
      } catch (error) {
        this.#handlerFailed(notification, error);
      }
    }
  }

  #handlerFailed(notification: Notification<T>, error: unknown): void {
    const { type, object } = notification;
    const key = "key" in object ? object.key : keyOfObject(object);
    const what = `a handler failed to ${type} ${this.#resource} ${JSON.stringify(key)}`;
    this.#onError(new InformerError("handler", what, error));
  }
}

/** Returns the handler's return value: nothing, or the promise of an async function. */
function deliver<T extends KubernetesObject>(handler: EventHandler<T>, notification: Notification<T>): unknown {
  switch (notification.type) {
    case "add":
      return handler.onAdd?.(notification.object, notification.isInInitialList);
    case "update":
      return handler.onUpdate?.(notification.old, notification.object);
    case "delete":
      return handler.onDelete?.(notification.object);
    default:
      return notification satisfies never;
  }
}

import {
  type KubernetesObject,
  type ObjectKey,
  type ResourceDefinition,
  cronJobs,
  customResourceDefinitions,
  jobs,
  nodes,
  pods,
  qualifiedResource,
} from "@kubewright/api";
import { type Client, errorMessage } from "@kubewright/client";
import type { Clock, Random } from "@kubewright/clock";
import {
  EventRecorder,
  type EventSink,
  type Logger,
  ReconcileLoop,
  type ReconcileResult,
  type Runnable,
  runAll,
  silentLogger,
} from "@kubewright/controller";
import type { EventHandler, InformerFactory } from "@kubewright/informer";
import { type QueueMetricsProvider, RateLimitingQueue, defaultControllerRateLimiter } from "@kubewright/workqueue";

import { AbsentOwners } from "./absent-owners.js";
import { type CollectDeps, attemptToDeleteItem } from "./attempt-to-delete.js";
import { orphanDependents } from "./attempt-to-orphan.js";
import type { GarbageDecision } from "./decision.js";
import { DependencyGraph } from "./dependency-graph.js";
import { graphHandler } from "./graph-handler.js";
import type { GraphNode } from "./graph-node.js";
import { LiveObjects, NamespacedOwnerError, UnknownTypeError } from "./live-objects.js";
import { Monitors } from "./monitors.js";
import { type ObjectIdentity, type Reference, describeIdentity, identityOfOwner } from "./object-identity.js";
import { ResourceCatalog } from "./resource-catalog.js";

export interface GarbageCollectorOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** Run by whoever assembles the controllers, not by this one. */
  readonly informers: InformerFactory;
  /** Resources that `informers` caches for others too. Of all others only metadata is cached. Default: pods, jobs, cronjobs and nodes. */
  readonly sharedResources?: readonly ResourceDefinition[];
  /** Objects looked at at once, and as many owners whose dependents are let go. Default 20. */
  readonly workers?: number;
  /**
   * How often to ask the API server what resources it has. Default 30,000, as upstream. `Infinity`: only at the start, and
   * whenever a CustomResourceDefinition changes, which is looked into at once in any case.
   */
  readonly discoveryIntervalMs?: number;
  /** Watches last between this and twice this. Default and least: 5 minutes. */
  readonly minWatchTimeoutMs?: number;
  readonly logger?: Logger;
  /** Default: an event recorder of its own, run with the controller. */
  readonly events?: EventSink;
  readonly metrics?: GarbageCollectorMetrics;
  readonly queueMetrics?: QueueMetricsProvider;
  /** Told of everything that was done. */
  readonly onDecision?: (decision: GarbageDecision) => void;
}

export interface GarbageCollectorMetrics {
  /** `garbagecollector_controller_resources_sync_error_total`. */
  resourcesSyncError(): void;
}

/** How long the workers wait for all caches before they begin without. */
const INITIAL_SYNC_TIMEOUT_MS = 30_000;
/** Upstream's period, and the pause after discovery that failed. */
const DISCOVERY_INTERVAL_MS = 30_000;

/** Queue keys of objects that were only referred to: when they come to exist, there is nothing to look into any more. */
const VIRTUAL = "virtual:";

/**
 * Deletes objects whose owners are gone, and carries out foreground deletion and orphaning, for resources of every kind.
 *
 * A graph of who owns whom follows the caches of all resources; what it gives rise to is looked into by workers, who ask
 * the API server before they do anything.
 *
 * @see kubernetes v1.36 pkg/controller/garbagecollector/garbagecollector.go GarbageCollector
 */
export class GarbageCollector implements Runnable {
  readonly name = "garbage-collector-controller";
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #metrics: GarbageCollectorMetrics | undefined;
  readonly #discoveryIntervalMs: number;
  readonly #recorder: EventRecorder | undefined;
  readonly #events: EventSink;
  readonly #catalog = new ResourceCatalog();
  readonly #graph: DependencyGraph;
  readonly #monitors: Monitors;
  readonly #deps: CollectDeps;
  readonly #deleteQueue: RateLimitingQueue<ObjectKey>;
  readonly #loops: readonly Runnable[];
  /** Opens when the monitors were started for the first time. */
  readonly #discovered = Promise.withResolvers<void>();
  #shouldDiscover = false;
  #wakeDiscovery: (() => void) | undefined;

  constructor(options: GarbageCollectorOptions) {
    const { client, clock, random, informers, workers = 20, queueMetrics, logger = silentLogger } = options;
    this.#client = client;
    this.#clock = clock;
    this.#logger = logger;
    this.#metrics = options.metrics;
    this.#discoveryIntervalMs = options.discoveryIntervalMs ?? DISCOVERY_INTERVAL_MS;
    this.#recorder =
      options.events === undefined
        ? new EventRecorder({ client, clock, random, component: this.name, logger })
        : undefined;
    this.#events = options.events ?? this.#recorder!;
    const queue = (name: string): RateLimitingQueue<ObjectKey> =>
      new RateLimitingQueue({ clock, name, rateLimiter: defaultControllerRateLimiter({ clock }), metrics: queueMetrics });
    const deleteQueue = queue("garbage_collector_attempt_to_delete");
    const orphanQueue = queue("garbage_collector_attempt_to_orphan");
    this.#deleteQueue = deleteQueue;
    const absentOwners = new AbsentOwners();
    this.#graph = new DependencyGraph({
      attemptToDelete: (node) => deleteQueue.add(keyOfNode(node)),
      attemptToDeleteRateLimited: (node) => deleteQueue.addRateLimited(keyOfNode(node)),
      attemptToOrphan: (node) => orphanQueue.add(keyOfNode(node)),
      ownerAbsent: (owner) => absentOwners.add(owner),
      ownerInOtherNamespace: (dependent, reference) => this.#reportInvalidNamespace(dependent, reference),
    });
    this.#deps = {
      graph: this.#graph,
      absentOwners,
      live: new LiveObjects({ client, clock, random: random.fork("garbage collector retries"), catalog: this.#catalog }),
      enqueue: (node) => deleteQueue.add(keyOfNode(node)),
      decided: (object, decision) => {
        logger.debug({ object: describeIdentity(object), ...decision }, "Garbage collected");
        options.onDecision?.({ atMs: clock.now(), object, ...decision });
      },
    };
    this.#monitors = new Monitors({
      client,
      clock,
      random,
      logger,
      informers,
      shared: options.sharedResources ?? [pods, jobs, cronJobs, nodes],
      minWatchTimeoutMs: options.minWatchTimeoutMs,
      handlerFor: (definition) => this.#handlerFor(definition),
    });
    const shared = { workers, clock, logger, waitForSync: (signal: AbortSignal) => this.#initialSync(signal) };
    this.#loops = [
      new ReconcileLoop({
        ...shared,
        name: this.name,
        queue: deleteQueue,
        reconcile: (key, signal) => this.#attemptToDelete(key, signal),
        describeError: "Error syncing item",
      }),
      new ReconcileLoop({
        ...shared,
        name: this.name,
        queue: orphanQueue,
        reconcile: (key, signal) => this.#attemptToOrphan(key, signal),
        describeError: "Error orphaning dependents",
      }),
    ];
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#logger.info({}, "Starting garbage collector controller");
    const discovery: Runnable = { name: `${this.name} discovery`, run: (stop) => this.#followResources(stop) };
    await runAll([...(this.#recorder === undefined ? [] : [this.#recorder]), discovery, ...this.#loops], signal);
    this.#logger.info({}, "Shutting down garbage collector controller");
  }

  async #attemptToDelete(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult | void> {
    const wasVirtual = key.startsWith(VIRTUAL);
    const node = this.#graph.node(wasVirtual ? key.slice(VIRTUAL.length) : key);
    if (node === undefined || node.virtual !== wasVirtual) return;
    try {
      // What stays in the graph although it is gone was given another identity, and is looked into again with back-off.
      if ((await attemptToDeleteItem(node, this.#deps, signal)) === "gone") return { keepFailures: this.#knows(node) };
    } catch (error) {
      if (error instanceof NamespacedOwnerError) return;
      if (!(error instanceof UnknownTypeError)) throw error;
      // Often a matter of time: the type may be known after the next discovery.
      this.#logger.debug({ item: describeIdentity(node.identity), err: error.message }, "Error syncing item");
      return this.#retry(key);
    }
    // It exists, so some cache should show it soon. Until then its dependents rest on this look alone.
    if (node.virtual && this.#knows(node)) return this.#retry(key);
  }

  #knows(node: GraphNode): boolean {
    return this.#graph.node(node.identity.uid) === node;
  }

  #retry(key: ObjectKey): ReconcileResult {
    this.#deleteQueue.addRateLimited(key);
    return { keepFailures: true };
  }

  async #attemptToOrphan(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const owner = this.#graph.node(key);
    if (owner !== undefined) await orphanDependents(owner, this.#deps, signal);
  }

  /** Keeps the monitors in step with what the API server serves, until the signal aborts. */
  async #followResources(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        this.#shouldDiscover = false;
        const isDone = await this.#syncMonitors(signal);
        await this.#untilNextDiscovery(isDone, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    await this.#monitors.stopped();
  }

  /** Answers whether all is as it should be. Upstream: GarbageCollector.Sync. */
  async #syncMonitors(signal: AbortSignal): Promise<boolean> {
    let failures: ReadonlyMap<string, unknown>;
    try {
      failures = await this.#catalog.refresh(this.#client, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#logger.error({ err: errorMessage(error) }, "Error getting all resources from the API server");
      this.#metrics?.resourcesSyncError();
      return false;
    }
    for (const [apiVersion, error] of failures) {
      this.#logger.warn({ apiVersion, err: errorMessage(error) }, "Failed to discover some groups");
    }
    if (this.#catalog.deletable.length === 0) {
      this.#logger.info({}, "No resources reported by discovery, skipping garbage collector sync");
      this.#metrics?.resourcesSyncError();
      return false;
    }
    const changed = this.#monitors.sync(this.#catalog.deletable, signal);
    this.#discovered.resolve();
    if (changed && !(await this.#syncedInTime(signal))) {
      this.#logger.error({ resources: this.#monitors.unsynced }, "Timed out waiting for dependency graph builder sync");
      this.#metrics?.resourcesSyncError();
    }
    return failures.size === 0;
  }

  async #untilNextDiscovery(isDone: boolean, signal: AbortSignal): Promise<void> {
    if (this.#shouldDiscover) return;
    const waitMs = isDone ? this.#discoveryIntervalMs : Math.min(this.#discoveryIntervalMs, DISCOVERY_INTERVAL_MS);
    const woken = new AbortController();
    this.#wakeDiscovery = () => woken.abort();
    const stop = AbortSignal.any([signal, woken.signal]);
    try {
      if (Number.isFinite(waitMs)) await this.#clock.sleep(waitMs, stop, { background: true });
      else await untilAborted(new Promise<never>(() => undefined), stop);
    } catch (error) {
      if (!woken.signal.aborted) throw error;
    }
    this.#wakeDiscovery = undefined;
  }

  async #initialSync(signal: AbortSignal): Promise<void> {
    if (!(await this.#syncedInTime(signal)))
      this.#logger.warn({}, "Garbage collector: not all resource monitors could be synced, proceeding anyways");
  }

  /** Whether the monitors sync before too long. @throws the signal's reason when it aborts first. */
  async #syncedInTime(signal: AbortSignal): Promise<boolean> {
    const timeout = new AbortController();
    const timer = this.#clock.setTimer(INITIAL_SYNC_TIMEOUT_MS, () => timeout.abort(), { background: true });
    const either = AbortSignal.any([signal, timeout.signal]);
    try {
      await untilAborted(this.#discovered.promise, either);
      await this.#monitors.waitForSync(either);
      return true;
    } catch (error) {
      if (signal.aborted || !timeout.signal.aborted) throw error;
      return false;
    } finally {
      timer.cancel();
    }
  }

  #handlerFor(definition: ResourceDefinition): EventHandler<KubernetesObject> {
    const handler = graphHandler(this.#graph, definition);
    if (qualifiedResource(definition) !== qualifiedResource(customResourceDefinitions)) return handler;
    const discover = (): void => {
      this.#shouldDiscover = true;
      this.#wakeDiscovery?.();
    };
    return {
      onAdd: (object, isInInitialList) => {
        handler.onAdd?.(object, isInInitialList);
        if (!isInInitialList) discover();
      },
      onUpdate: (old, object) => {
        handler.onUpdate?.(old, object);
        discover();
      },
      onDelete: (deleted) => {
        handler.onDelete?.(deleted);
        discover();
      },
    };
  }

  #reportInvalidNamespace(dependent: ObjectIdentity, reference: Reference): void {
    const { namespace, name, uid, apiVersion, kind } = dependent;
    const [version = "", group = ""] = apiVersion.split("/").reverse();
    const definition = { group, version, kind, resource: "", namespaced: namespace !== "" };
    const owner = describeIdentity(identityOfOwner(reference, namespace));
    this.#events.event(
      { metadata: { name, uid, ...(namespace === "" ? {} : { namespace }) } },
      definition,
      "Warning",
      "OwnerRefInvalidNamespace",
      `ownerRef ${owner} does not exist in namespace ${JSON.stringify(namespace)}`,
    );
  }
}

function keyOfNode({ virtual, identity }: GraphNode): ObjectKey {
  return (virtual ? VIRTUAL + identity.uid : identity.uid) as ObjectKey;
}

/** @throws the signal's reason when it aborts first. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason as Error);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

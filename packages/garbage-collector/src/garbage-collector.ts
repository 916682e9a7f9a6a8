import {
  type KubernetesObject,
  type ResourceDefinition,
  cronJobs,
  customResourceDefinitions,
  jobs,
  nodes,
  pods,
  qualifiedResource,
} from "@kubewright/api";
import { errorMessage } from "@kubewright/client";
import type { Logger } from "@kubewright/clock";
import {
  type ControllerDeps,
  ControllerShell,
  type EventSink,
  type ReconcileResult,
  type Runnable,
} from "@kubewright/controller";
import type { EventHandler } from "@kubewright/informer";
import type { RateLimitingQueue } from "@kubewright/workqueue";

import { AbsentOwners } from "./absent-owners.js";
import { type CollectDeps, attemptToDeleteItem } from "./attempt-to-delete.js";
import { attemptToOrphan } from "./attempt-to-orphan.js";
import type { GarbageDecision } from "./decision.js";
import { DependencyGraph } from "./dependency-graph.js";
import { graphHandler } from "./graph-handler.js";
import type { GraphDump } from "./graph-dump.js";
import type { GraphNode } from "./graph-node.js";
import { LiveObjects, NamespacedOwnerError, UnknownTypeError } from "./live-objects.js";
import { Monitors } from "./monitors.js";
import { type ObjectIdentity, type Reference, describeIdentity, identityOfOwner } from "./object-identity.js";
import { type NodeKey, nodeKey, nodeKeyParts } from "./node-key.js";
import { ResourceCatalog } from "./resource-catalog.js";
import { ResourceDiscovery } from "./resource-discovery.js";

export interface GarbageCollectorOptions extends ControllerDeps {
  /**
   * Resources that `informers` also caches for other controllers. For all other resources only metadata is cached.
   * Default: pods, jobs, cronjobs and nodes; none without `informers`.
   */
  readonly sharedResources?: readonly ResourceDefinition[];
  /**
   * Resources without owners and dependents, in addition to events: they are not watched. Upstream:
   * `GCIgnoredResources`. Default: none.
   */
  readonly ignores?: ((resource: ResourceDefinition) => boolean) | undefined;
  /**
   * Number of objects processed concurrently, and number of owners whose dependents are orphaned concurrently. Default
   * 20.
   */
  readonly workers?: number;
  /**
   * Milliseconds between discovery requests. Default 30,000, as upstream. `Infinity`: discovery runs only at the start
   * and after changes of CustomResourceDefinitions. Such a change always triggers discovery immediately.
   */
  readonly discoveryIntervalMs?: number;
  /** Watches last between this and twice this, in milliseconds. Default and minimum: 5 minutes. */
  readonly minWatchTimeoutMs?: number;
  readonly metrics?: GarbageCollectorMetrics | undefined;
  /** Called after every completed action. */
  readonly onDecision?: (decision: GarbageDecision) => void;
}

export interface GarbageCollectorMetrics {
  /** Counts `garbagecollector_controller_resources_sync_error_total`. */
  resourcesSyncError(): void;
}

/** Upstream's log message for every failed item; the error contains the details. */
const UNHANDLED_ERROR = "Unhandled Error";

/**
 * Deletes objects whose owners are gone, and performs foreground deletion and orphaning, for resources of every kind.
 *
 * The caches of all resources update a dependency graph. The graph enqueues objects, and workers check them against the
 * API server before they act.
 *
 * @see kubernetes v1.36 pkg/controller/garbagecollector/garbagecollector.go GarbageCollector
 */
export class GarbageCollector implements Runnable {
  readonly name = "garbage-collector-controller";
  readonly #shell: ControllerShell;
  readonly #logger: Logger;
  readonly #events: EventSink;
  readonly #graph: DependencyGraph;
  readonly #resources: ResourceDiscovery;
  readonly #deps: CollectDeps;
  readonly #deleteQueue: RateLimitingQueue<NodeKey>;
  readonly #synced = Promise.withResolvers<void>();

  constructor(options: GarbageCollectorOptions) {
    const shell = new ControllerShell(options, {
      name: this.name,
      logMessages: {
        starting: "Starting controller",
        stopped: "Shutting down controller",
        fields: { controller: "garbagecollector" },
      },
    });
    this.#shell = shell;
    const { client, clock, random, informers, logger } = shell;
    this.#logger = logger;
    this.#events = shell.events;
    const loop = {
      workers: options.workers ?? 20,
      waitForSync: (signal: AbortSignal) => this.#initialSync(signal),
      describeError: UNHANDLED_ERROR,
    };
    const deleteQueue = shell.addLoop<NodeKey>({
      ...loop,
      queue: "garbage_collector_attempt_to_delete",
      reconcile: (key, signal) => this.#attemptToDelete(key, signal),
    });
    const orphanQueue = shell.addLoop<NodeKey>({
      ...loop,
      queue: "garbage_collector_attempt_to_orphan",
      reconcile: (key, signal) => this.#attemptToOrphan(key, signal),
    });
    this.#deleteQueue = deleteQueue;
    const absentOwners = new AbsentOwners();
    const catalog = new ResourceCatalog();
    this.#graph = new DependencyGraph({
      attemptToDelete: (node) => deleteQueue.add(nodeKey(node)),
      attemptToDeleteRateLimited: (node) => deleteQueue.addRateLimited(nodeKey(node)),
      attemptToOrphan: (node) => orphanQueue.add(nodeKey(node)),
      ownerAbsent: (owner) => absentOwners.add(owner),
      ownerInOtherNamespace: (dependent, reference) => this.#reportInvalidNamespace(dependent, reference),
    });
    const monitors = new Monitors({
      client,
      clock,
      random,
      logger,
      onFailure: options.onFailure,
      informers,
      shared: options.sharedResources ?? (options.informers === undefined ? [] : [pods, jobs, cronJobs, nodes]),
      minWatchTimeoutMs: options.minWatchTimeoutMs,
      handlerFor: (definition) => this.#handlerFor(definition),
    });
    this.#deps = {
      graph: this.#graph,
      absentOwners,
      live: new LiveObjects({
        client,
        clock,
        random: random.fork("garbage collector retries"),
        catalog,
        cached: (resource, place) => monitors.cached(resource, place),
      }),
      enqueue: (node) => deleteQueue.add(nodeKey(node)),
      onDecision: (object, decision) => {
        logger.debug({ object: describeIdentity(object), ...decision }, "Garbage collected");
        options.onDecision?.({ atMs: clock.now(), object, ...decision });
      },
    };
    this.#resources = new ResourceDiscovery({
      client,
      clock,
      logger,
      catalog,
      monitors,
      ignores: options.ignores,
      intervalMs: options.discoveryIntervalMs,
      onSyncError: () => options.metrics?.resourcesSyncError(),
    });
    // The discovery's caches cause events too, and serve the workers until these have ended.
    shell.addSupport(this.#resources);
  }

  /** Resolves when the caches are filled, or after 30 s, when the workers start with incomplete caches. */
  waitForSync(): Promise<void> {
    return this.#synced.promise;
  }

  /** Returns the known dependency graph: all of it, or the parts connected with the objects of these UIDs. */
  dumpGraph(uids?: readonly string[]): GraphDump {
    return this.#graph.dump(uids);
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#shell.run(signal);
  }

  async #attemptToDelete(key: NodeKey, signal: AbortSignal): Promise<ReconcileResult | void> {
    const { uid, virtual } = nodeKeyParts(key);
    const node = this.#graph.node(uid);
    if (node?.virtual !== virtual) return;
    try {
      // An absent object stays in the graph if it received another identity; it is checked again with backoff.
      if ((await attemptToDeleteItem(node, this.#deps, signal)) === "gone")
        return { keepFailures: this.#isInGraph(node) };
    } catch (error) {
      if (error instanceof NamespacedOwnerError) return;
      const item = describeIdentity(node.identity);
      if (!(error instanceof UnknownTypeError))
        throw new Error(`error syncing item ${item}: ${errorMessage(error)}`, { cause: error });
      // Usually temporary: the next discovery may find the type.
      this.#logger.error({ item, err: error.message }, "error syncing item");
      return this.#retry(key);
    }
    // The owner exists, so a cache should show it soon. Until then its dependents depend on this single check.
    if (node.virtual && this.#isInGraph(node)) return this.#retry(key);
  }

  #isInGraph(node: GraphNode): boolean {
    return this.#graph.node(node.identity.uid) === node;
  }

  #retry(key: NodeKey): ReconcileResult {
    this.#deleteQueue.addRateLimited(key);
    return { keepFailures: true };
  }

  async #attemptToOrphan(key: NodeKey, signal: AbortSignal): Promise<void> {
    const owner = this.#graph.node(nodeKeyParts(key).uid);
    if (owner !== undefined) await attemptToOrphan(owner, this.#deps, signal);
  }

  async #initialSync(signal: AbortSignal): Promise<void> {
    if (!(await this.#resources.waitForSyncWithTimeout(signal)))
      this.#logger.warn({}, "Garbage collector: not all resource monitors could be synced, proceeding anyways");
    this.#synced.resolve();
  }

  #handlerFor(definition: ResourceDefinition): EventHandler<KubernetesObject> {
    const handler = graphHandler(this.#graph, definition);
    if (qualifiedResource(definition) !== qualifiedResource(customResourceDefinitions)) return handler;
    return {
      onAdd: (object, isInInitialList) => {
        handler.onAdd?.(object, isInInitialList);
        if (!isInInitialList) this.#resources.discoverNow();
      },
      onUpdate: (old, object) => {
        handler.onUpdate?.(old, object);
        this.#resources.discoverNow();
      },
      onDelete: (deleted) => {
        handler.onDelete?.(deleted);
        this.#resources.discoverNow();
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

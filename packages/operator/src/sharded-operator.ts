import type { Client } from "@kubewright/client";
import { type Runnable, runAll } from "@kubewright/controller";
import type { InformerError, InformerFactoryOptions } from "@kubewright/informer";
import type { ManagedContext, ManagedController } from "@kubewright/manager";
import { ShardedManager } from "@kubewright/manager/sharded";
import { memberMetrics } from "@kubewright/sharding";
import type { Transport } from "@kubewright/transport";

import { Cache } from "./cache.js";
import type { CacheNarrowings } from "./cache-narrowing.js";
import { Caches } from "./caches.js";
import type { ControllerContext } from "./controller-context.js";
import type { DeclaredController } from "./controller-declaration.js";
import { narrowedReaders, narrowedTransform } from "./narrowed-reads.js";

export interface ShardedOperatorOptions {
  readonly controllers: readonly DeclaredController[];
  /** Creates the tasks that run in one replica. */
  readonly tasks: (context: ControllerContext) => readonly Runnable[];
  /** Context of the whole run. Each bucket has its own client and caches. */
  readonly context: ControllerContext;
  readonly clientOf: (transport: Transport) => Client;
  /** For Leases, the assignment, and the caches. */
  readonly readClient: Client;
  readonly transport: Transport;
  readonly identity: string;
  readonly namespace: string;
  readonly narrowings: CacheNarrowings;
  readonly resyncMs: number;
  readonly onInformer: InformerFactoryOptions["onInformer"];
  readonly onError: (error: InformerError) => void;
}

/**
 * Creates the manager of an operator whose replicas share its work by buckets of namespaces. Controllers of
 * cluster-scoped resources, and tasks, run in one replica.
 */
export function shardedOperator(options: ShardedOperatorOptions): ShardedManager<ManagedContext> {
  const { controllers, context, clientOf, readClient, transport, identity, namespace, resyncMs } = options;
  const { narrowings, onInformer, onError } = options;
  const { clock, random, logger, operator } = context;
  return new ShardedManager({
    controllers: [...controllers.map((controller) => managed(controller, options)), managedTasks(options)],
    clock,
    random,
    logger,
    transport,
    memberClient: readClient,
    readClient: narrowedReaders(readClient, narrowings),
    member: {
      namespace,
      group: operator.slice(0, 63),
      identity,
      metrics: memberMetrics(context.controllerMetrics),
    },
    informers: {
      transform: narrowedTransform(narrowings),
      resyncMs,
      informerName: operator,
      metrics: context.controllerMetrics.informers,
      onError,
    },
    onInformer,
    depsFor: (_, { work, transport: fenced }) => ({
      client: clientOf(fenced),
      clock,
      random: random.fork(`bucket ${work.name} at ${work.epoch}`),
    }),
  });
}

function managed(controller: DeclaredController, options: ShardedOperatorOptions): ManagedController {
  return {
    name: controller.name,
    sharing: isNamespaced(controller) ? "namespaces" : "none",
    build: (given) => controller.build(contextOf(given, isNamespaced(controller), options)),
  };
}

function managedTasks(options: ShardedOperatorOptions): ManagedController {
  return {
    name: "tasks",
    sharing: "none",
    build: (given) => {
      const tasks = options.tasks(contextOf(given, false, options));
      return { name: "tasks", run: (signal) => runAll(tasks, signal) };
    },
  };
}

/** Whether the resource that the controller reconciles is namespaced. */
function isNamespaced({ resources }: DeclaredController): boolean {
  return resources.find(({ role }) => role === "for")?.definition.namespaced ?? false;
}

/** Context of a controller for one bucket. Its caches have all that the controllers of the same scope watch or read. */
function contextOf(
  { client, random, informers }: ManagedContext,
  ofNamespaced: boolean,
  { controllers, context, readClient, narrowings, resyncMs, onError, onInformer }: ShardedOperatorOptions,
): ControllerContext {
  const { clock } = context;
  const caches = new Caches({
    client: readClient,
    clock,
    random,
    namespaces: [],
    narrowings,
    onError,
    onInformer,
    resyncMs,
    informers,
  });
  for (const controller of controllers.filter((each) => isNamespaced(each) === ofNamespaced))
    for (const { role, definition } of controller.resources) if (role !== "writes") caches.add(definition);
  return { ...context, client, caches, cache: new Cache(caches), random, isShared: ofNamespaced };
}

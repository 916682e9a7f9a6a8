import type { Client } from "@kubewright/client";
import {
  type ControllerDeps,
  EventRecorder,
  type Logger,
  type Runnable,
  finishWrites,
  runAll,
  runInStages,
} from "@kubewright/controller";
import { GarbageCollector } from "@kubewright/garbage-collector";
import { PodGCController, TerminatedPodCollector, type TerminatedPodCounts } from "@kubewright/podgc";
import { type BucketInformers, type BucketWork, afterCacheSync, untilReleased } from "@kubewright/sharding";
import type { Transport } from "@kubewright/transport";

import type { ControllerManagerDeps } from "../controller-manager.js";
import { type ControllerName, type ImplementedController, implementedControllers } from "../controller-names.js";
import { controllerBuilders } from "../controllers.js";
import { controllerStopTimeoutMs } from "../run-until-drained.js";

/** What a part of the process's work is made by. */
export interface BucketControllersOptions {
  readonly deps: ControllerManagerDeps;
  /** The chosen controllers. */
  readonly names: readonly ControllerName[];
  /** A client of a controller that writes by this transport. All of a controller share one rate limit. */
  readonly clientFor: (controller: ImplementedController, transport: Transport) => Client;
  readonly informers: BucketInformers;
  readonly terminatedPods: TerminatedPodCounts;
  readonly loggerFor: (controller: string) => Logger;
  /** Told of the garbage collector, when this replica has it. */
  readonly onCollector: (collector: GarbageCollector) => void;
}

const PODGC = "pod-garbage-collector-controller" satisfies ControllerName;
const JOB = "job-controller" satisfies ControllerName;
/** Its graph has objects of all kinds, wherever their owners are. */
const GARBAGE_COLLECTOR = "garbage-collector-controller" satisfies ControllerName;

/**
 * Runs the controllers of one bucket of namespaces until the signal aborts: all but what needs the whole cluster. A part of a namespace
 * has the Job controller, for its Jobs; the first part has the other controllers too, for all of the namespace.
 */
export async function runNamespaces(
  given: BucketControllersOptions,
  work: BucketWork,
  signal: AbortSignal,
): Promise<void> {
  const { deps, names, informers: feeds, terminatedPods } = given;
  const informers = feeds.forBucket(work.bucket);
  const { part } = work;
  const controllers: Runnable[] = [];
  const recorders: EventRecorder[] = [];
  for (const name of names) {
    if (name === GARBAGE_COLLECTOR || (part !== undefined && part.index > 0 && name !== JOB)) continue;
    const shared = depsOf(given, name, work);
    const { client, clock, random, logger } = shared;
    const events = new EventRecorder({ client, clock, random, logger, component: name });
    recorders.push(events);
    const options = name === PODGC ? { ...deps.options, terminatedPodGcThreshold: 0 } : deps.options;
    const controller = controllerBuilders[name]({
      ...shared,
      informers,
      events,
      options,
      localTimeZone: deps.localTimeZone,
      handlesJob: part?.has,
      metrics: deps.operations?.metrics,
    });
    controllers.push(controller);
    if (controller instanceof PodGCController) terminatedPods.add(work.bucket, controller, signal);
  }
  await runInStages([afterCacheSync(controllers, informers, work), [informers, ...recorders]], signal);
}

/**
 * Runs what needs the whole cluster until the signal aborts: the garbage collector, and what goes by the number of all ended pods.
 * Both ask the API server about whatever they are about to delete, so that it does no harm when their caches are behind.
 */
export async function runClusterWide(
  given: BucketControllersOptions,
  work: BucketWork,
  signal: AbortSignal,
): Promise<void> {
  const { deps, names, terminatedPods, onCollector } = given;
  const { options, operations } = deps;
  const controllers: Runnable[] = [];
  if (names.includes(GARBAGE_COLLECTOR)) {
    // Without the caches of others: of pods it needs the metadata only.
    const collector = new GarbageCollector({
      ...depsOf(given, GARBAGE_COLLECTOR, work),
      workers: options.concurrentGcSyncs,
      metrics: operations?.metrics.controllers.garbageCollector,
    });
    onCollector(collector);
    controllers.push(collector);
  }
  if (names.includes(PODGC)) {
    const collector = new TerminatedPodCollector({
      ...depsOf(given, PODGC, work),
      terminatedPodThreshold: options.terminatedPodGcThreshold,
      periodMs: options.podgcPeriodMs,
      countTerminated: () => terminatedPods.clusterTotal(),
      metrics: operations?.metrics.controllers.podGC,
    });
    controllers.push(collector);
  }
  work.opened();
  await runAll([...controllers, untilReleased], signal);
}

function depsOf(
  { deps, clientFor, loggerFor }: BucketControllersOptions,
  name: ControllerName,
  work: BucketWork,
): ControllerDeps & { readonly logger: Logger } {
  const { clock, random, options, operations } = deps;
  const known = implementedControllers.find((each) => each.name === name)!;
  const logger = loggerFor(name);
  const bucket = work.name;
  return {
    client: clientFor(known, finishWrites(work.transport)),
    clock,
    random: random.fork(`${name} of bucket ${bucket} at ${work.epoch}`),
    logger: {
      debug: (fields, message) => logger.debug({ bucket, ...fields }, message),
      // Each starts and stops with its bucket, of which there are many.
      info: (fields, message) => logger[name === PODGC ? "info" : "debug"]({ bucket, ...fields }, message),
      warn: (fields, message) => logger.warn({ bucket, ...fields }, message),
      error: (fields, message) => logger.error({ bucket, ...fields }, message),
    },
    stopTimeoutMs: controllerStopTimeoutMs(options.controllerShutdownTimeoutMs),
    queueMetrics: operations?.metrics.common.queues,
  };
}

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

/** Dependencies of the controllers of one bucket. */
export interface BucketControllersOptions {
  readonly deps: ControllerManagerDeps;
  /** The enabled controllers. */
  readonly names: readonly ControllerName[];
  /** Creates the client of a controller with this transport. All clients of a controller share one rate limit. */
  readonly clientFor: (controller: ImplementedController, transport: Transport) => Client;
  readonly informers: BucketInformers;
  readonly terminatedPods: TerminatedPodCounts;
  readonly loggerFor: (controller: string) => Logger;
  /** Called with the garbage collector when this replica runs it. */
  readonly onCollector: (collector: GarbageCollector) => void;
}

const PODGC = "pod-garbage-collector-controller" satisfies ControllerName;
const JOB = "job-controller" satisfies ControllerName;
/** Its graph has objects of all kinds, and owners in any namespace. */
const GARBAGE_COLLECTOR = "garbage-collector-controller" satisfies ControllerName;

/**
 * Runs the controllers of one bucket of namespaces until the signal aborts, except those that need the whole cluster.
 * Every part of a split namespace runs the Job controller for its Jobs. Part 0 also runs the other controllers for the
 * whole namespace.
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
 * Runs the work that needs the whole cluster until the signal aborts: the garbage collector, and PodGC's threshold of
 * terminated pods. Both read an object from the API server before they delete it, so stale caches do no harm.
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
    // Without the shared caches: of pods it needs only the metadata.
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
      // Each controller starts and stops with every bucket, so these lines are logged at debug level.
      info: (fields, message) => logger[name === PODGC ? "info" : "debug"]({ bucket, ...fields }, message),
      warn: (fields, message) => logger.warn({ bucket, ...fields }, message),
      error: (fields, message) => logger.error({ bucket, ...fields }, message),
    },
    stopTimeoutMs: controllerStopTimeoutMs(options.controllerShutdownTimeoutMs),
    queueMetrics: operations?.metrics.common.queues,
  };
}

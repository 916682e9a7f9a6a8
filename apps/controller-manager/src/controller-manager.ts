import { Client } from "@kubewright/client";
import { type Clock, type Random, uuid } from "@kubewright/clock";
import {
  EventRecorder,
  LeaderElector,
  type Logger,
  type Runnable,
  leaderFence,
  selectControllers,
} from "@kubewright/controller";
import { InformerFactory, withoutManagedFields } from "@kubewright/informer";
import type { Transport } from "@kubewright/transport";

import { implementedControllers } from "./controller-names.js";
import { controllerBuilders } from "./controllers.js";
import { finishWrites } from "./finish-writes.js";
import type { ControllerManagerOptions } from "./options.js";
import { runUntilDrained } from "./run-until-drained.js";
import { type Build, userAgent } from "./user-agent.js";
import { waitForHealthy } from "./wait-for-healthy.js";

export interface ControllerManagerDeps {
  readonly options: ControllerManagerOptions;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  /** Makes the logger of a part of the process. */
  readonly loggerFor: (name?: string) => Logger;
  readonly build: Build;
  readonly hostname: string;
  readonly localTimeZone: string;
}

/** The limit a library client has when nobody sets one. */
const LIBRARY_LIMIT = { qps: 5, burst: 10 };

/**
 * Runs the chosen controllers, under a Lease if leader election is on, until the signal aborts. Then they take no more
 * work, finish what is in flight, and their events are written; only after that the Lease is given away.
 *
 * Upstream is killed by SIGTERM unless a gate is on, and with the gate gives the Lease away while controllers still drain.
 *
 * @throws Error when the API server does not become healthy, a controller fails, the Lease is lost, or controllers do not
 *   stop in time. The caller must then end the process: what is in flight goes on.
 * @see kubernetes v1.36 cmd/kube-controller-manager/app/controllermanager.go Run
 */
export async function runControllerManager(deps: ControllerManagerDeps, signal: AbortSignal): Promise<void> {
  const { options } = deps;
  if (options.leaderElect) await lead(deps, signal);
  else await runControllers(deps, deps.transport, signal);
}

async function lead(deps: ControllerManagerDeps, signal: AbortSignal): Promise<void> {
  const { options, transport, clock, random, build } = deps;
  const logger = deps.loggerFor();
  const client = (name: string): Client => new Client({ transport, clock, userAgent: userAgent(build, name) });
  const events = new EventRecorder({
    client: client("kube-controller-manager"),
    clock,
    random,
    component: "kube-controller-manager",
    logger,
  });
  // What ends the process at once: waiting for controllers to stop would only keep two leaders longer at work.
  const fatal = Promise.withResolvers<never>();
  let failed = false;
  const elector = new LeaderElector({
    client: client("leader-election"),
    clock,
    random,
    namespace: options.leaderElectResourceNamespace,
    name: options.leaderElectResourceName,
    identity: `${deps.hostname}_${uuid(random.fork("leader identity"))}`,
    leaseDurationMs: options.leaderElectLeaseDurationMs,
    renewDeadlineMs: options.leaderElectRenewDeadlineMs,
    retryPeriodMs: options.leaderElectRetryPeriodMs,
    releaseOnCancel: true,
    events,
    logger,
    callbacks: {
      onStartedLeading: async (leading) => {
        try {
          await runControllers(
            deps,
            leaderFence(transport, () => elector.mayActAsLeader),
            leading,
          );
          if (!leading.aborted) throw new Error("every controller stopped by itself");
        } catch (error) {
          failed = true;
          fatal.reject(error);
          // The Lease stays as it is: whoever did not stop in time may still be at work.
          await new Promise<never>(() => {});
        }
      },
      onStoppedLeading: () => {
        if (!signal.aborted && !failed) fatal.reject(new Error("leaderelection lost/stopped"));
      },
    },
  });
  const stopEvents = new AbortController();
  const recording = events.run(stopEvents.signal);
  await Promise.race([elector.run(signal), fatal.promise]);
  stopEvents.abort();
  await recording;
}

async function runControllers(deps: ControllerManagerDeps, given: Transport, signal: AbortSignal): Promise<void> {
  const { options, clock, random, build } = deps;
  const logger = deps.loggerFor();
  const transport = finishWrites(given);
  const client = (name: string): Client =>
    new Client({ transport, clock, userAgent: userAgent(build, name), ...rateLimit(options) });
  try {
    await waitForHealthy({ transport, clock, logger, userAgent: userAgent(build, "kube-controller-manager"), signal });
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }

  const informers = new InformerFactory({
    client: client("shared-informers"),
    clock,
    random: random.fork("informers"),
    resyncMs: options.minResyncPeriodMs * (1 + random.fork("resync").next()),
    transform: withoutManagedFields,
    onError: (error) => logger.warn({ err: error }, "Informer failed, going on"),
  });
  const recorders: EventRecorder[] = [];
  const controllers: Runnable[] = [];
  const { enabled, disabled, missing } = selectControllers(
    implementedControllers.map(({ name }) => name),
    options.controllers,
  );
  for (const name of missing) logger.warn({ controller: name }, "Warning: controller is not part of this binary");
  for (const name of disabled) logger.warn({ controller: name }, "Warning: controller is disabled");
  for (const name of enabled) {
    if (name === "garbage-collector-controller" && !options.enableGarbageCollector) {
      logger.warn({ controller: name }, "Warning: skipping controller");
      continue;
    }
    const { clientName } = implementedControllers.find((known) => known.name === name)!;
    const own = { client: client(clientName), clock, random: random.fork(name), logger: deps.loggerFor(name) };
    const events = new EventRecorder({ ...own, component: name });
    recorders.push(events);
    const controller = controllerBuilders[name]({
      ...own,
      informers,
      events,
      options,
      localTimeZone: deps.localTimeZone,
    });
    controllers.push(startingLate(controller, options.controllerStartIntervalMs, own));
  }
  const support = [{ name: "informers", run: (stop: AbortSignal) => informers.run(stop) }, ...recorders];
  const timeoutMs = options.controllerShutdownTimeoutMs;
  await runUntilDrained({ controllers, support, timeoutMs, clock, logger }, signal);
}

function rateLimit({ kubeApiQps: qps, kubeApiBurst: burst }: ControllerManagerOptions): {
  rateLimit?: { qps: number; burst: number };
} {
  if (qps < 0) return {};
  return { rateLimit: qps === 0 ? LIBRARY_LIMIT : { qps, burst } };
}

/** Spreads the load of a start: waits between once and twice the interval. */
function startingLate(
  controller: Runnable,
  intervalMs: number,
  { clock, random }: { clock: Clock; random: Random },
): Runnable {
  if (intervalMs <= 0) return controller;
  const delayMs = intervalMs * (1 + random.fork("start").next());
  const run = async (signal: AbortSignal): Promise<void> => {
    await clock.sleep(delayMs, signal).catch(() => undefined);
    if (!signal.aborted) await controller.run(signal);
  };
  return { name: controller.name, run };
}

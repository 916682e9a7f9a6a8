import { EventRecorder, type Logger, type Runnable, finishWrites, selectControllers } from "@kubewright/controller";
import { type Clock, type Random, LogThrottle } from "@kubewright/clock";
import { type Client, reasonOf } from "@kubewright/client";
import { GarbageCollector } from "@kubewright/garbage-collector";
import { type InformerError, InformerFactory } from "@kubewright/informer";
import { Manager, controllerStopTimeoutMs, initializationError } from "@kubewright/manager";
import {
  type KubernetesContext,
  type KubernetesController,
  controllerNames,
  kubernetesControllers,
} from "@kubewright/manager/kubernetes";
import type { Transport } from "@kubewright/transport";

import { Clients } from "./clients.js";
import type { ControllerManagerDeps } from "./controller-manager-deps.js";
import { cachedFields } from "./cached-fields.js";
import { kubernetesOptions } from "./kubernetes-options.js";
import { skippedControllers } from "./options.js";
import { warnWithoutManagedBy } from "./managed-by-support.js";
import type { OutageLog } from "./outage-log.js";
import { userAgent } from "./user-agent.js";
import { waitForHealthy } from "./wait-for-healthy.js";

export interface RunControllersOptions {
  readonly deps: ControllerManagerDeps;
  /** Rejects writes when this process may not write. */
  readonly fence: (transport: Transport) => Transport;
  readonly outage: OutageLog;
}

/**
 * Builds the enabled controllers, one set for each namespace with `--namespace`, and runs them until the signal aborts.
 *
 * @throws Error when the API server does not become healthy, a controller cannot be built or fails, or the controllers
 * do not stop in time.
 */
export async function runControllers(
  { deps, fence, outage }: RunControllersOptions,
  signal: AbortSignal,
): Promise<void> {
  const { options, clock, build, operations } = deps;
  const logger = deps.loggerFor();
  const protect = (transport: Transport): Transport => finishWrites(fence(outage.observeTransport(transport)));
  const transport = protect(deps.transport);
  try {
    await waitForHealthy({ transport, clock, logger, userAgent: userAgent(build, "kube-controller-manager"), signal });
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  const clients = new Clients({
    options,
    transport,
    anonymousTransport: deps.anonymousTransport && protect(deps.anonymousTransport),
    clock,
    logger,
    build,
    metrics: operations?.requests,
  });
  const { managedBy } = options;
  // It only logs a warning, so nothing waits for it.
  if (managedBy !== "")
    void warnWithoutManagedBy({ client: clients.named("kube-controller-manager"), logger, managedBy, signal });
  const shared: Client = clients.named("shared-informers");
  const scopes = options.namespaces.length === 0 ? [undefined] : options.namespaces;
  /** The namespace of each set of caches. */
  const namespaceOf = new Map(
    scopes.map((namespace) => [informersOf(deps, shared, outage, namespace), namespace] as const),
  );
  const caches = [...namespaceOf.keys()];
  const chosen = chosenControllers(deps, logger);
  const ownDeps = new Map<string, OwnDeps>();
  for (const controller of chosen) ownDeps.set(controller.name, await ownDepsOf(controller, clients, { deps, outage }));
  const collectors: GarbageCollector[] = [];
  const manager = new Manager<KubernetesContext>({
    controllers: chosen,
    caches,
    clock,
    logger,
    depsFor: ({ name }, informers) => {
      const namespace = namespaceOf.get(informers);
      const { random, logger: own, ...shared } = ownDeps.get(name)!;
      return {
        ...shared,
        clock,
        random: namespace === undefined ? random : random.fork(namespace),
        logger: namespace === undefined ? own : withNamespace(own, namespace),
        stopTimeoutMs: controllerStopTimeoutMs(options.controllerShutdownTimeoutMs),
        queueMetrics: operations?.metrics.common.queues,
      };
    },
    onController: (built, { name }, informers) => {
      if (built instanceof GarbageCollector) {
        collectors.push(built);
        operations?.addGarbageCollector(built);
      }
      const namespace = namespaceOf.get(informers);
      const { random } = ownDeps.get(name)!;
      const delayed = withStartDelay(built, options.controllerStartIntervalMs, {
        clock,
        random: namespace === undefined ? random : random.fork(namespace),
        logger,
      });
      return namespace === undefined ? delayed : { ...delayed, name: `${name} in ${namespace}` };
    },
    support: [...ownDeps.values()].map(({ events }) => events),
    stopTimeoutMs: options.controllerShutdownTimeoutMs,
  });
  operations?.health.addControllers(chosen.map(({ name }) => name));
  void operations?.health.trackCacheSync(() =>
    Promise.all([
      ...collectors.map((collector) => collector.waitForSync()),
      ...caches.map((factory) => factory.waitForCacheSync(signal)),
    ]),
  );
  await manager.run(signal);
}

/** Dependencies of a controller that its namespaces share. */
interface OwnDeps extends Pick<KubernetesContext, "client" | "random"> {
  readonly logger: Logger;
  readonly events: EventRecorder;
}

/** @throws Error that names the controller, when its client cannot be created. */
async function ownDepsOf(
  controller: KubernetesController,
  clients: Clients,
  { deps, outage }: Pick<RunControllersOptions, "deps" | "outage">,
): Promise<OwnDeps> {
  const { name } = controller;
  const { clock } = deps;
  const { logger } = new LogThrottle({ clock, logger: outage.quietLogger(deps.loggerFor(name)) });
  const random = deps.random.fork(name);
  try {
    const client = await clients.forController(controller);
    return { client, random, logger, events: new EventRecorder({ client, clock, random, component: name, logger }) };
  } catch (error) {
    throw initializationError(name, error, deps.loggerFor());
  }
}

function informersOf(
  { clock, random, options, operations, loggerFor }: ControllerManagerDeps,
  client: Client,
  outage: OutageLog,
  namespace: string | undefined,
): InformerFactory {
  const lines = new LogThrottle({ clock, logger: outage.quietLogger(loggerFor()) });
  return new InformerFactory({
    client,
    clock,
    namespace,
    random: random.fork(namespace === undefined ? "informers" : `informers in ${namespace}`),
    resyncMs: options.minResyncPeriodMs * (1 + random.fork("resync").next()),
    transform: cachedFields,
    // Each namespace has its own caches, whose metrics need distinct names.
    informerName: `kube-controller-manager${namespace === undefined ? "" : `/${namespace}`}`,
    metrics: operations?.metrics.common.informers,
    onError: (error) => lines.warn(errorTopic(error), { err: error }, "Informer failed, going on"),
  });
}

/**
 * Key for rate limiting log lines: the same kind of failure has the same key for every attempt and every object of the
 * resource.
 */
export function errorTopic({ step, message, cause }: InformerError): string {
  const reason = reasonOf(cause);
  if (step === "handler" || step === "event") return `${step} ${reason ?? ""}`;
  // The part before the colon contains the operation and the resource; the rest may differ in each response.
  return reason === undefined ? message : `${message.split(":", 1)[0]} ${reason}`;
}

/** The controllers that flags enable, with the options that flags set. */
export function chosenControllers(deps: ControllerManagerDeps, logger: Logger): readonly KubernetesController[] {
  const { options } = deps;
  const { enabled, disabled, missing } = selectControllers(controllerNames, options.controllers);
  for (const name of missing) logger.warn({ controller: name }, "Warning: controller is not part of this binary");
  for (const name of disabled) logger.warn({ controller: name }, "Warning: controller is disabled");
  const clusterWide = skippedControllers(options);
  const chosen = enabled.filter((name) => {
    if (clusterWide.includes(name)) {
      logger.warn({ controller: name }, "Warning: controller needs the whole cluster, skipped with --namespace");
      return false;
    }
    if (name !== "garbage-collector-controller" || options.enableGarbageCollector) return true;
    logger.warn({ controller: name }, "Warning: skipping controller");
    return false;
  });
  return kubernetesControllers(kubernetesOptions(deps), chosen);
}

/** Adds the namespace to the lines of a controller. */
function withNamespace(logger: Logger, namespace: string): Logger {
  return {
    debug: (fields, message) => logger.debug({ namespace, ...fields }, message),
    info: (fields, message) => logger.info({ namespace, ...fields }, message),
    warn: (fields, message) => logger.warn({ namespace, ...fields }, message),
    error: (fields, message) => logger.error({ namespace, ...fields }, message),
  };
}

/** Spreads the load of a start: each controller waits between once and twice the interval. */
function withStartDelay(
  controller: Runnable,
  intervalMs: number,
  { clock, random, logger }: { clock: Clock; random: Random; logger: Logger },
): Runnable {
  const delayMs = intervalMs <= 0 ? 0 : intervalMs * (1 + random.fork("start").next());
  const run = async (signal: AbortSignal): Promise<void> => {
    if (delayMs > 0) await clock.sleep(delayMs, signal).catch(() => undefined);
    if (signal.aborted) return;
    logger.debug({ controller: controller.name }, "Controller starting...");
    await controller.run(signal);
  };
  return { name: controller.name, run };
}

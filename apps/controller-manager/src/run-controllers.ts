import { EventRecorder, type Logger, type Runnable, finishWrites, selectControllers } from "@kubewright/controller";
import { type Clock, type Random, LogThrottle } from "@kubewright/clock";
import { errorMessage, type Client, reasonOf } from "@kubewright/client";
import { GarbageCollector } from "@kubewright/garbage-collector";
import { type InformerError, InformerFactory } from "@kubewright/informer";
import { type KubernetesController, controllerNames, kubernetesControllers } from "@kubewright/manager/kubernetes";
import type { Transport } from "@kubewright/transport";

import { Clients } from "./clients.js";
import type { ControllerManagerDeps } from "./controller-manager-deps.js";
import { cachedFields } from "./cached-fields.js";
import { kubernetesOptions } from "./kubernetes-options.js";
import { skippedControllers } from "./options.js";
import { warnWithoutManagedBy } from "./managed-by-support.js";
import type { OutageLog } from "./outage-log.js";
import { runUntilDrained, controllerStopTimeoutMs } from "./run-until-drained.js";
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
  const informers = scopes.map((namespace) => informersOf(deps, shared, outage, namespace));
  const recorders: EventRecorder[] = [];
  const controllers: Runnable[] = [];
  const names: string[] = [];
  const collectors: GarbageCollector[] = [];
  for (const definition of chosenControllers(deps, logger)) {
    const { name } = definition;
    const own = new LogThrottle({ clock, logger: outage.quietLogger(deps.loggerFor(name)) }).logger;
    try {
      const client = await clients.forController(definition);
      const random = deps.random.fork(name);
      const events = new EventRecorder({ client, clock, random, component: name, logger: own });
      recorders.push(events);
      names.push(name);
      for (const [index, namespace] of scopes.entries()) {
        const scoped = namespace === undefined ? random : random.fork(namespace);
        const controller = definition.build({
          client,
          clock,
          random: scoped,
          logger: namespace === undefined ? own : withNamespace(own, namespace),
          informers: informers[index]!,
          events,
          stopTimeoutMs: controllerStopTimeoutMs(options.controllerShutdownTimeoutMs),
          queueMetrics: operations?.metrics.common.queues,
        });
        if (controller instanceof GarbageCollector) {
          collectors.push(controller);
          operations?.addGarbageCollector(controller);
        }
        const delayed = withStartDelay(controller, options.controllerStartIntervalMs, {
          clock,
          random: scoped,
          logger,
        });
        controllers.push(namespace === undefined ? delayed : { ...delayed, name: `${name} in ${namespace}` });
      }
    } catch (error) {
      logger.error({ controller: name, err: errorMessage(error) }, "Error initializing a controller");
      throw new Error(`Error building controllers: ${name}: ${errorMessage(error)}`, { cause: error });
    }
  }
  operations?.health.addControllers(names);
  void operations?.health.trackCacheSync(() =>
    Promise.all([
      ...collectors.map((collector) => collector.waitForSync()),
      ...informers.map((factory) => factory.waitForCacheSync(signal)),
    ]),
  );
  const support: Runnable[] = [...informers, ...recorders];
  const timeoutMs = options.controllerShutdownTimeoutMs;
  await runUntilDrained({ controllers, support, timeoutMs, clock, logger }, signal);
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

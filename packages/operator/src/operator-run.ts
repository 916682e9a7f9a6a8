import { definitionKey, namespaces as namespaceResource } from "@kubewright/api";
import { Client, type ClientOptions, errorMessage } from "@kubewright/client";
import {
  type Clock,
  type Logger,
  type Random,
  LogThrottle,
  TokenBucket,
  standardErrorLogger,
  untilAborted,
  uuid,
} from "@kubewright/clock";
import {
  type EventSink,
  type HealthChecks,
  LeaderElector,
  type RenewalDeferral,
  type Runnable,
  finishWrites,
  leaderFence,
  runAll,
  runInStages,
} from "@kubewright/controller";
import { ControllerMetrics } from "@kubewright/controller/metrics";
import type { InformerError, InformerFactoryOptions } from "@kubewright/informer";
import type { Transport } from "@kubewright/transport";
import { Registry } from "prom-client";

import { Cache } from "./cache.js";
import { type CacheNarrowings, cacheNarrowings } from "./cache-narrowing.js";
import { Caches } from "./caches.js";
import type { ControllerContext } from "./controller-context.js";
import type { DeclaredController } from "./controller-declaration.js";
import { eventRecorder } from "./event-recording.js";
import type { LeaderElectionOptions, OperatorOptions } from "./operator-options.js";
import type { OperatorTask } from "./operator-task.js";
import { reconcileMetrics } from "./reconcile-metrics.js";
import { buildTask } from "./running-task.js";
import { shardedOperator } from "./sharded-operator.js";
import { type Tracer, tracedTransport } from "./tracing.js";

/** Dependencies of one run of an operator. */
export interface OperatorEnvironment {
  /** Transport to the API server. */
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  /** Stops the operator when it aborts. */
  readonly signal: AbortSignal;
  /** Default: standard error, warnings and errors, the same line once a minute. */
  readonly logger?: Logger | undefined;
  /** Host of this process, in events of events.k8s.io/v1. Default: none. */
  readonly host?: string | undefined;
  /** Unique among the replicas. Default: the operator's name and a UUID from `random`. */
  readonly identity?: string | undefined;
  /** The namespace that the operator runs in, and of its Lease. Default `default`. */
  readonly namespace?: string | undefined;
  /** Overrides the operator's option. */
  readonly namespaces?: readonly string[] | undefined;
  /** Overrides the operator's option. */
  readonly leaderElection?: LeaderElectionOptions | false | undefined;
  /** For simulated time: see `LeaderElector`. Default: the leader sends a request for every renewal. */
  readonly renewalDeferral?: RenewalDeferral | undefined;
  /** An empty registry for all metrics, the operator's own included. Default: a new one. */
  readonly registry?: Registry | undefined;
  /** The run adds its checks to these. */
  readonly health?: { readonly healthz: HealthChecks; readonly readyz: HealthChecks } | undefined;
  /** Creates spans of reconciles and requests. Default: no tracing. */
  readonly tracer?: Tracer | undefined;
  /** Called with every error of reconciles and handlers, as it was thrown, in addition to logging. Default: none. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Called with every informer when it is created. Default: none. */
  readonly onInformer?: InformerFactoryOptions["onInformer"];
  /** `host:port` of the API server, for request metrics. Default: not known. */
  readonly server?: string | undefined;
}

/** An operator with any type of metrics. */
export interface RunnableOperator {
  readonly name: string;
  readonly controllers: readonly DeclaredController[];
  readonly tasks: readonly OperatorTask<never>[];
  readonly options: OperatorOptions<unknown>;
  /** Runs until the signal aborts: see {@link Operator.run}. */
  run(environment: OperatorEnvironment): Promise<void>;
}

const DEFAULT_NAMESPACE = "default";
const TEN_HOURS_MS = 36_000_000;
const CACHE_SYNC_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 30_000;
/** How long after its Lease has expired a leader still counts as healthy. */
const HEALTH_TOLERANCE_MS = 20_000;
const MIN_LEASE_REQUEST_TIMEOUT_MS = 1_000;
const RENEW_DEADLINE_MS = 10_000;

/**
 * One run of an operator. It fills the caches, which stay current on a standby. Then it waits to lead, and then it runs
 * the controllers. It stops in reverse order.
 *
 * @see controller-runtime pkg/manager/internal.go
 */
export class OperatorRun {
  readonly #operator: RunnableOperator;
  readonly #environment: OperatorEnvironment;
  readonly #logger: Logger;
  readonly #metrics: ControllerMetrics;
  readonly #caches: Caches;
  /** Rejects writes while this process may not write. */
  readonly #client: Client;
  readonly #unfenced: Client;
  readonly #resyncMs: number;
  readonly #onInformerError: (error: InformerError) => void;
  #elector: LeaderElector | undefined;

  constructor(operator: RunnableOperator, environment: OperatorEnvironment) {
    const { clock, random, registry = new Registry() } = environment;
    this.#operator = operator;
    this.#environment = environment;
    this.#logger = environment.logger ?? standardErrorLogger(clock, operator.name);
    const lines = new LogThrottle({ clock, logger: this.#logger }).logger;
    this.#metrics = new ControllerMetrics({ registry });
    const traced = tracedTransport(environment.transport, environment.tracer);
    const mayAct = (): boolean => this.#elector === undefined || this.#elector.mayActAsLeader;
    const { rateLimit } = operator.options;
    this.#client = this.#clientOf(finishWrites(leaderFence(traced, mayAct)), rateLimit);
    this.#unfenced = this.#clientOf(finishWrites(traced), rateLimit);
    this.#resyncMs = (operator.options.resyncMs ?? TEN_HOURS_MS) * (0.9 + 0.2 * random.fork("resync").next());
    this.#onInformerError = (error) => {
      if (error.step === "handler") environment.onFailure?.(error.cause);
      lines.error({ step: error.step, err: errorMessage(error) }, "Informer failed, going on");
    };
    this.#caches = new Caches({
      client: this.#client,
      clock,
      random: random.fork("caches"),
      namespaces: environment.namespaces ?? operator.options.namespaces ?? [],
      narrowings: cacheNarrowings(operator.controllers, operator.options.caches),
      resyncMs: this.#resyncMs,
      onInformer: environment.onInformer,
      onError: this.#onInformerError,
    });
    for (const { resources } of operator.controllers) {
      for (const { role, definition } of resources) if (role !== "writes") this.#caches.add(definition);
    }
  }

  async run(): Promise<void> {
    const { clock, signal } = this.#environment;
    const { name } = this.#operator;
    const release = clock.keepAlive();
    this.#logger.info({}, `Starting ${name}`);
    try {
      const election = this.#environment.leaderElection ?? this.#operator.options.leaderElection ?? {};
      const context = this.#context();
      if (this.#operator.options.sharding !== undefined) {
        await this.#runSharded(context);
        return;
      }
      const lead = this.#leading(context);
      const recording: Runnable[] = [];
      if (election !== false) {
        const { random } = this.#environment;
        const recorder = context.eventRecorder({
          client: this.#client,
          random: random.fork("events"),
          logger: this.#logger,
        });
        recording.push(recorder);
        this.#elector = this.#candidate(election, recorder, lead);
      }
      this.#addChecks();
      const main: Runnable = { name, run: (stop) => this.#main(lead, stop) };
      const always = this.#tasks(context, true);
      await runInStages([[main, ...always], this.#caches.runnables, recording], signal);
    } finally {
      release();
      this.#logger.info({}, `Shutting down ${name}`);
    }
  }

  /** Runs as one of several replicas, each for some of the namespaces. */
  async #runSharded(context: ControllerContext): Promise<void> {
    const { name, options, controllers } = this.#operator;
    const { clock, random, signal, identity, namespace = DEFAULT_NAMESPACE, health } = this.#environment;
    const limited = this.#environment.namespaces ?? options.namespaces ?? [];
    if (limited.length > 0)
      throw new Error(`${name} shares all namespaces: it cannot be restricted to ${limited.join()}`);
    if (this.#environment.leaderElection === false)
      throw new Error(`${name} shares work by Leases: leader election cannot be off`);
    const transport = tracedTransport(this.#environment.transport, this.#environment.tracer);
    const { rateLimit } = options;
    const limit = rateLimit && new TokenBucket({ clock, perSecond: rateLimit.qps, burst: rateLimit.burst });
    const sharded = shardedOperator({
      controllers,
      tasks: (of) => this.#tasks(of, false),
      context,
      clientOf: (fenced) => this.#clientOf(fenced, limit),
      readClient: this.#clientOf(transport, undefined),
      transport,
      identity: identity ?? `${name.slice(0, 63)}-${uuid(random.fork("shard identity")).slice(0, 8)}`,
      namespace,
      narrowings: shardedNarrowings(this.#operator),
      resyncMs: this.#resyncMs,
      onInformer: this.#environment.onInformer,
      onError: this.#onInformerError,
    });
    health?.healthz.add("ping");
    health?.readyz.add("sharding", () =>
      sharded.member.isReady ? undefined : new Error("buckets are not synced yet"),
    );
    for (const [each, check] of Object.entries(options.healthChecks ?? {})) health?.healthz.add(each, check);
    for (const [each, check] of Object.entries(options.readyChecks ?? {})) health?.readyz.add(each, check);
    await runAll([sharded, ...this.#tasks(context, true), untilStopped], signal);
  }

  async #main(lead: (leading: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    try {
      const { cacheSyncTimeoutMs = CACHE_SYNC_TIMEOUT_MS } = this.#operator.options;
      await this.#caches.waitForSync(cacheSyncTimeoutMs, signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    if (this.#elector === undefined) await lead(signal);
    else await this.#elector.run(signal);
  }

  /** Creates the controllers, and returns a function that runs them while this process leads. */
  #leading(context: ControllerContext): (leading: AbortSignal) => Promise<void> {
    const controllers = this.#operator.controllers.map((controller) => controller.build(context));
    const tasks = this.#tasks(context, false);
    return (leading) => runAll([...controllers, ...tasks, untilStopped], leading);
  }

  #context(): ControllerContext {
    const { clock, random, tracer, host } = this.#environment;
    const { name, options } = this.#operator;
    return {
      operator: name,
      client: this.#client,
      unfenced: this.#unfenced,
      namespace: this.#environment.namespace ?? DEFAULT_NAMESPACE,
      caches: this.#caches,
      cache: new Cache(this.#caches),
      clock,
      random,
      logger: this.#logger,
      controllerMetrics: this.#metrics,
      reconciles: reconcileMetrics(this.#metrics),
      metrics: options.metrics?.(this.#metrics),
      tracer,
      onFailure: this.#environment.onFailure,
      stopTimeoutMs: options.stopTimeoutMs ?? STOP_TIMEOUT_MS,
      eventRecorder: (recorder) => eventRecorder(options.events ?? "v1", { clock, component: name, host, ...recorder }),
    };
  }

  #tasks(context: ControllerContext, whileStandingBy: boolean): Runnable[] {
    return this.#operator.tasks
      .filter((task) => (task.whileStandingBy ?? false) === whileStandingBy)
      .map((task) => buildTask(task, context));
  }

  #candidate(
    election: LeaderElectionOptions,
    events: EventSink,
    lead: (leading: AbortSignal) => Promise<void>,
  ): LeaderElector {
    const { clock, random, transport, identity, namespace = DEFAULT_NAMESPACE } = this.#environment;
    const { renewalDeferral } = this.#environment;
    const { name } = this.#operator;
    const { leaseName = name, renewDeadlineMs = RENEW_DEADLINE_MS, ...times } = election;
    const timeoutMs = Math.max(MIN_LEASE_REQUEST_TIMEOUT_MS, renewDeadlineMs / 2);
    return new LeaderElector({
      client: this.#clientOf(transport, undefined, timeoutMs),
      clock,
      random: random.fork("leader election"),
      renewalDeferral,
      namespace,
      ...times,
      renewDeadlineMs,
      name: leaseName,
      identity: identity ?? `${name}_${uuid(random.fork("leader identity"))}`,
      releaseOnCancel: true,
      // Each controller has its own limit.
      stopTimeoutMs: Infinity,
      events,
      metrics: this.#metrics.leaderElection,
      logger: this.#logger,
      callbacks: {
        onStartedLeading: lead,
        onStoppedLeading: () => undefined,
        onNewLeader: (leader) => {
          if (leader !== "") this.#logger.info({ leader }, "New leader elected");
        },
      },
    });
  }

  #addChecks(): void {
    const { health } = this.#environment;
    if (health === undefined) return;
    const { healthChecks = {}, readyChecks = {} } = this.#operator.options;
    const { healthz, readyz } = health;
    healthz.add("ping");
    if (this.#elector !== undefined)
      healthz.add("leaderElection", () => this.#elector?.checkHealth(HEALTH_TOLERANCE_MS));
    for (const [name, check] of Object.entries(healthChecks)) healthz.add(name, check);
    readyz.add("informer-sync", () => (this.#caches.hasSynced ? undefined : new Error("caches are not filled yet")));
    for (const [name, check] of Object.entries(readyChecks)) readyz.add(name, check);
  }

  #clientOf(transport: Transport, rateLimit: ClientOptions["rateLimit"], timeoutMs?: number): Client {
    const { clock, server } = this.#environment;
    const metrics = this.#metrics.restClient(server);
    const limit = rateLimit === undefined ? {} : { rateLimit };
    return new Client({ transport, clock, userAgent: this.#operator.name, timeoutMs, metrics, ...limit });
  }
}

/** @throws Error for a narrowing that replicas with shares of the namespaces cannot have. */
function shardedNarrowings({ name, controllers, options }: RunnableOperator): CacheNarrowings {
  const narrowings = cacheNarrowings(controllers, options.caches);
  if ([...narrowings.values()].some((narrowing) => (narrowing.namespaces ?? []).length > 0))
    throw new Error(`${name} shares all namespaces: no cache can be narrowed to namespaces`);
  if (narrowings.has(definitionKey(namespaceResource)))
    throw new Error(`${name} shares all namespaces: the cache of namespaces cannot be narrowed`);
  return narrowings;
}

/** Keeps an operator without controllers running. */
const untilStopped: Runnable = { name: "until stopped", run: untilAborted };

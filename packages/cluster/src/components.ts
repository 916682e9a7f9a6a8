import type { ResourceDefinition } from "@kubewright/api";
import type { ApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { type RenewalDeferral, type Runnable, leaderFence, runAll } from "@kubewright/controller";
import { type Clock, type Logger, type Random, StoppableClock, standardErrorLogger } from "@kubewright/clock";
import { InformerFactory, type InformerFactoryOptions } from "@kubewright/informer";
import { type JobLimits, defaultJobLimits } from "@kubewright/job";
import type { ManagedController } from "@kubewright/manager";
import {
  type Decision,
  type KubernetesContext,
  controllerNames,
  kubernetesControllers,
} from "@kubewright/manager/kubernetes";
import type { NamespaceSplits, ShardStatus } from "@kubewright/sharding";
import type { Transport } from "@kubewright/transport";

import { type Cluster, type ClusterOptions, WATCH_TIMEOUT_MS } from "./cluster.js";
import { controllerOptions } from "./controller-options.js";
import { ControllerProcess, type StartedProcess } from "./controller-process.js";
import { ControllerReplica } from "./controller-replica.js";
import { Faults } from "./faults.js";
import { FakeKubelet } from "./kubelet/fake-kubelet.js";
import type { ManagerProcess } from "./manager-process.js";
import { type Delays, Network, type NetworkFault, type Sender } from "./network.js";
import { NodeLifecycleController } from "./node-lifecycle-controller.js";
import { defaultNodes, registerNodes } from "./nodes.js";
import type { ComponentSpec } from "./component-spec.js";
import { ProcessClock } from "./process-clock.js";
import { runWithReadiness } from "./ready-or-failed.js";
import { FakeScheduler } from "./scheduler/fake-scheduler.js";
import { ShardedIncarnation, type ShardedIncarnationOptions } from "./sharded-incarnation.js";
import { SHARDING, ShardedProcess } from "./sharded-process.js";
import { UndisturbedRenewals } from "./undisturbed-renewals.js";
import { UnreachableNodes } from "./unreachable-nodes.js";

export interface ComponentsOptions extends Pick<
  ClusterOptions,
  | "clock"
  | "random"
  | "kubernetesVersion"
  | "controllers"
  | "kubelet"
  | "nodes"
  | "localTimeZone"
  | "missedSince"
  | "terminatedPodGCThreshold"
  | "logger"
> {
  /** Called with every decision of every controller, and with the controller's sender. */
  readonly onDecision?: ((decision: Decision, sender: Sender) => void) | undefined;
  /** Transport to the API server, embedded or not. */
  readonly transport: Transport;
  /**
   * Interval at which the garbage collector discovers resources, in milliseconds. Default: on each change of a
   * CustomResourceDefinition, which is enough for an API server of this package.
   */
  readonly discoveryIntervalMs?: number;
  /** Number of controller managers, of which one leads. Default 1, without an election. */
  readonly replicas?: number;
  /**
   * Whether the controller managers split the work by buckets of namespaces, as kubewright-controller-manager does with
   * `--sharding`, instead of electing one leader. Default false.
   */
  readonly sharding?: boolean | undefined;
  /** With sharding: namespaces whose Jobs several managers handle, with their number of parts. Default: none. */
  readonly splitNamespaces?: NamespaceSplits | undefined;
  /**
   * Lease duration of each controller manager in milliseconds, in whole seconds: others take over after this time. The
   * last value applies to the remaining ones. Default 15,000.
   */
  readonly leaseDurationsMs?: readonly number[] | undefined;
  /** Settings of the Job controller. Default: as upstream. */
  readonly jobController?:
    | {
        /** Whether a Job is synced only once the caches contain the controller's own writes for it. Default true. */
        readonly consistencyGate?: boolean | undefined;
        readonly limits?: Partial<JobLimits> | undefined;
      }
    | undefined;
  /** Resources that the garbage collector ignores, in addition to events. Default: none. */
  readonly garbageCollectorIgnores?: ((resource: ResourceDefinition) => boolean) | undefined;
  /** Whether the cluster's own components record Events. Default true. */
  readonly recordsEvents?: boolean | undefined;
  /** Controllers that are not part of Kubernetes, by name. Each runs in its own process of that name. */
  readonly others?: Readonly<Record<string, OtherController>> | undefined;
  /** Delays of requests and watch events without a fault. Default: none. */
  readonly delays?: Delays | undefined;
  /** Called for every informer of every component, when it is created. */
  readonly onInformer?: ((informer: AnyInformer, definition: ResourceDefinition, sender: Sender) => void) | undefined;
  /** Called with each error that the work of a component throws. */
  readonly onFailure?: ((error: unknown, sender: Sender) => void) | undefined;
  /**
   * Duration that watches request, in milliseconds, or up to twice that. A silent watch is not detected before it ends.
   * At least five minutes, as upstream. Default: a day, which keeps long simulations cheap.
   */
  readonly watchTimeoutMs?: number | undefined;
  /**
   * `leaseRenewals` of the API server, if it is in process and its requests are not intercepted: leaders then defer
   * renewals that nothing observes. Default: a leader sends a request for every renewal.
   */
  readonly leaseRenewals?: ApiServer["leaseRenewals"] | undefined;
  /** Returns the version of the API server's last write at least the given milliseconds ago. Needed for stale lists. */
  readonly versionBefore?: ((agoMs: number) => number) | undefined;
}

type AnyInformer = Parameters<NonNullable<InformerFactoryOptions["onInformer"]>>[0];

/** Creates a controller that is not part of Kubernetes. Returns what is to run. */
export type OtherController = (environment: OtherEnvironment) => Runnable | readonly Runnable[];

export interface OtherEnvironment {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** The controller's own informers, which run beside it. */
  readonly informers: InformerFactory;
  /** Transport to the API server, for controllers that create their own clients. */
  readonly transport: Transport;
  /** Distinguishes this incarnation from others, as leader election needs it. */
  readonly identity: string;
  /** Called with an error after which the controller continues. */
  readonly onFailure: (error: unknown) => void;
  /** Called for informers that are not created by `informers`. */
  readonly onInformer: NonNullable<InformerFactoryOptions["onInformer"]>;
}

/** A cluster without its API server, in which faults can be injected. */
export interface Components extends Pick<Cluster, "run"> {
  readonly faults: Faults;
  /** Network between the components and the API server. Other clients may use it too. */
  readonly network: Network;
  /** For leaders that use this network: defers renewals that nothing observes. Absent if the API server is elsewhere. */
  readonly renewalDeferral: RenewalDeferral | undefined;
  /** Returns the names of the controller managers, and other processes, that believe they lead. */
  readonly leaders: () => readonly string[];
  /**
   * Returns whether a component is running, and leads if there is an election. For a sharded manager and the
   * incarnation of a bucket's controller: whether that controller still works for the bucket.
   */
  readonly runs: (sender: Pick<Sender, "component" | "process"> & Partial<Sender>) => boolean;
  /** Returns the shard status of each running sharded manager, by its name. */
  readonly shards: () => Readonly<Record<string, ShardStatus>>;
  /** Resolves once the nodes are registered; rejects as {@link Cluster.run} does, if that fails before. */
  ready(): Promise<void>;
}

/**
 * Creates controllers, scheduler and kubelet, each with its own informers and transport to the API server. Each can
 * therefore be killed, delayed, disconnected and restarted individually.
 */
export function createComponents(options: ComponentsOptions): Components {
  const { start, runnables, ...components } = makeComponents(options);
  const { run, ready } = runWithReadiness({
    start,
    run: (signal) => runAll(runnables, signal),
    synced: () => Promise.resolve(),
  });
  return { ...components, run, ready: () => ready() };
}

/** Creates the parts of {@link createComponents}, for callers that run other components beside them. */
export function makeComponents(options: ComponentsOptions): Pick<
  Components,
  "faults" | "network" | "renewalDeferral" | "leaders" | "runs" | "shards"
> & {
  /** Registers the nodes. */
  readonly start: () => Promise<void>;
  readonly runnables: readonly Runnable[];
} {
  const {
    clock,
    random,
    transport,
    kubelet: kubeletMode = "simulated",
    nodes = defaultNodes,
    replicas: replicaCount = 1,
  } = options;
  const logger = options.logger ?? standardErrorLogger(clock, "cluster");
  const network = new Network({ transport, clock, delays: options.delays });
  const { leaseRenewals } = options;
  const renewalDeferral = leaseRenewals === undefined ? undefined : new UndisturbedRenewals({ leaseRenewals, network });
  const unreachableNodes = new UnreachableNodes();
  const limits = options.jobController?.limits;
  const { watchTimeoutMs = WATCH_TIMEOUT_MS } = options;
  const nodeLifecycle: ManagedController<KubernetesContext> = {
    name: "node-lifecycle-controller",
    sharing: "none",
    build: (context) => new NodeLifecycleController({ ...context, unreachableNodes }),
  };
  /** The controllers of one manager. */
  const makeControllers = (): readonly ManagedController<KubernetesContext>[] => [
    ...kubernetesControllers(
      controllerOptions({
        ...options,
        jobController: {
          consistencyGate: options.jobController?.consistencyGate,
          ...(limits === undefined ? {} : { limits: { ...defaultJobLimits, ...limits } }),
        },
        watchTimeoutMs,
        discoveryIntervalMs: options.discoveryIntervalMs ?? Infinity,
      }),
      options.controllers,
    ),
    ...(kubeletMode === "none" ? [] : [nodeLifecycle]),
  ];
  const events = options.recordsEvents === false ? { events: { event: () => {} } } : {};
  const contextFor = (spec: ComponentSpec): KubernetesContext => {
    const { name, sender, clock, transport } = spec;
    const forkedRandom = random.fork(spec.label);
    const client = new Client({ transport, clock, userAgent: name });
    const onFailure = (error: unknown): void => {
      if (spec.alive()) options.onFailure?.(error, sender);
    };
    return {
      logger,
      ...events,
      client,
      clock,
      random: forkedRandom,
      informers: new InformerFactory({
        client,
        clock,
        random: forkedRandom.fork("informers"),
        minWatchTimeoutMs: watchTimeoutMs,
        onInformer: (informer, definition) => options.onInformer?.(informer, definition, sender),
        onError: (error) => {
          if (error.step === "handler") onFailure(error.cause);
          logger.debug({ err: error }, "Informer failed");
        },
      }),
      onFailure,
      onDecision: (decision) => {
        // A killed controller makes no more decisions.
        if (spec.alive()) options.onDecision?.(decision, sender);
      },
    };
  };
  /** Starts one incarnation of a controller. */
  const startProcess = (
    name: string,
    { process, incarnation, clock: machineClock, mayAct }: ProcessIncarnation,
    makeRunnables: (context: KubernetesContext, transport: Transport) => readonly Runnable[],
  ): StartedProcess => {
    let alive = true;
    const sender: Sender = { component: name, process, incarnation, resumed: () => machineClock.resumed };
    const isAlive = (): boolean => alive;
    const clock = new StoppableClock(machineClock);
    const transport = leaderFence(network.link(name, isAlive, sender), mayAct);
    const label = `${process}/${name}/${incarnation}`;
    const context = contextFor({ name, label, sender, clock, transport, alive: isAlive });
    return {
      runnables: [informersRunnable(context.informers), ...makeRunnables(context, transport)],
      kill: () => {
        alive = false;
        clock.stop();
      },
    };
  };
  const makeProcess = (name: string, start: (incarnation: number) => StartedProcess, process: string) => {
    let incarnation = 0;
    const { onFailure } = options;
    return new ControllerProcess(name, {
      start: () => start(++incarnation),
      sleep: (durationMs, signal) => clock.sleep(durationMs, signal),
      onFailure:
        onFailure === undefined ? undefined : (error) => onFailure(error, { component: name, process, incarnation }),
    });
  };
  const { leaseDurationsMs = [] } = options;
  const makeReplica = (process: string, index: number): ControllerReplica => {
    const machineClock = new ProcessClock(clock);
    const mayAct = (): boolean => replicaCount === 1 || replica.mayAct;
    const processes = makeControllers().map(({ name, build }) =>
      makeProcess(
        name,
        (incarnation) =>
          startProcess(name, { process, incarnation, clock: machineClock, mayAct }, (context) => [build(context)]),
        process,
      ),
    );
    const sender = { process, incarnation: 1, resumed: () => machineClock.resumed };
    const election = {
      clientFor: (alive: () => boolean) =>
        new Client({
          transport: network.link(electionComponent(process), alive, sender),
          clock: machineClock,
          userAgent: "leader-election",
        }),
      clock: machineClock,
      random: random.fork(`${process}/election`),
      logger,
      renewalDeferral: renewalDeferral && whileRunning(machineClock, renewalDeferral),
      leaseDurationMs: leaseDurationsMs[index] ?? leaseDurationsMs.at(-1),
    };
    const replica = new ControllerReplica(process, processes, machineClock, replicaCount === 1 ? undefined : election);
    return replica;
  };
  const makeShardedProcess = (process: string): ShardedProcess => {
    const machineClock = new ProcessClock(clock);
    let bucketRuns = 0;
    const nextBucketRun = (): number => ++bucketRuns;
    const onInformer: ShardedIncarnationOptions["onInformer"] = (...args) => options.onInformer?.(...args);
    const shared = {
      process,
      machineClock,
      logger,
      network,
      splitNamespaces: options.splitNamespaces ?? {},
      contextFor,
      nextBucketRun,
      onInformer,
    };
    const start = (incarnation: number): ShardedIncarnation =>
      new ShardedIncarnation({
        ...shared,
        controllers: makeControllers(),
        incarnation,
        random: random.fork(`${process}/${incarnation}`),
      });
    const controllers = makeControllers().map(({ name }) => name);
    return new ShardedProcess(process, { machineClock, controllers, start, clock, logger });
  };
  const names = Array.from({ length: replicaCount }, (_, index) => `controller-manager-${index + 1}`);
  const shardedProcesses = options.sharding === true ? names.map(makeShardedProcess) : [];
  const managers: readonly ManagerProcess[] = options.sharding === true ? shardedProcesses : names.map(makeReplica);
  const others = Object.entries(options.others ?? {}).map(([name, make]): ControllerReplica => {
    if (controllerNames.some((known) => known === name) || RESERVED_NAMES.has(name))
      throw new Error(`${JSON.stringify(name)} is a component of every cluster; give the controller another name`);
    const machineClock = new ProcessClock(clock);
    const incarnationOptions = { process: name, clock: machineClock, mayAct: () => true };
    const start = (incarnation: number): StartedProcess =>
      startProcess(name, { ...incarnationOptions, incarnation }, (context, transport) => {
        const { client, clock, random, informers } = context;
        const onFailure = context.onFailure ?? (() => {});
        const identity = `${name}_${incarnation}`;
        const sender = { component: name, process: name, incarnation };
        const onInformer: OtherEnvironment["onInformer"] = (informer, definition) =>
          options.onInformer?.(informer, definition, sender);
        const environment = { client, clock, random, logger, informers, transport, identity, onFailure, onInformer };
        const runnables = make(environment);
        return "run" in runnables ? [runnables] : runnables;
      });
    return new ControllerReplica(name, [makeProcess(name, start, name)], machineClock);
  });
  const replicas: readonly ManagerProcess[] = [...managers, ...others];
  const specOf = (name: string, component: string): ComponentSpec => {
    const sender = { component, process: "", incarnation: 1 };
    const transport = network.link(component);
    return { name, label: name, sender, clock, transport, alive: () => true };
  };
  const schedulerContext = contextFor(specOf("fake-scheduler", "scheduler"));
  const kubeletContext = contextFor(specOf("fake-kubelet", "kubelet"));
  const kubelet = new FakeKubelet(kubeletContext);
  const runnables: Runnable[] = [...replicas];
  if (kubeletMode === "simulated")
    runnables.push(
      informersRunnable(schedulerContext.informers),
      new FakeScheduler(schedulerContext),
      informersRunnable(kubeletContext.informers),
      kubelet,
    );
  return {
    network,
    renewalDeferral,
    leaders: () => replicas.filter(({ believesToLead }) => believesToLead).map(({ name }) => name),
    runs: (sender) =>
      sender.process === "" || replicas.some((replica) => replica.name === sender.process && replica.runs(sender)),
    shards: () =>
      Object.fromEntries(
        shardedProcesses.flatMap(({ name, status }) => (status === undefined ? [] : [[name, status]])),
      ),
    faults: new Faults({
      network,
      managers,
      shardedProcesses,
      others,
      controllers: [...controllerNames, "node-lifecycle-controller", ...others.map(({ name }) => name)],
      unreachableNodes,
      kubelet,
      clock,
      leaseRequests: (replica): NetworkFault =>
        options.sharding === true
          ? { components: [SHARDING], processes: [replica] }
          : { components: [electionComponent(replica)] },
      versionBefore: options.versionBefore,
    }),
    start: async () => {
      const client = new Client({ transport, clock, userAgent: "kubelet" });
      if (kubeletMode === "simulated") await registerNodes(client, nodes, clock.now());
    },
    runnables,
  };
}

interface ProcessIncarnation {
  readonly process: string;
  readonly incarnation: number;
  /** Clock of the machine that the process runs on. */
  readonly clock: ProcessClock;
  readonly mayAct: () => boolean;
}

/** Names that a custom controller must not have. */
const RESERVED_NAMES: ReadonlySet<string> = new Set([
  "node-lifecycle-controller",
  "scheduler",
  "kubelet",
  "user",
  "sharding",
  "informers",
]);

/** Returns the network's component name of a replica's leader election. */
function electionComponent(replica: string): string {
  return `election of ${replica}`;
}

/** A paused process must not defer renewals: the others have to see that it does not renew. */
function whileRunning(clock: ProcessClock, deferral: RenewalDeferral): RenewalDeferral {
  return { defer: (renewals) => (clock.isPaused ? undefined : deferral.defer(renewals)) };
}

function informersRunnable(informers: InformerFactory): Runnable {
  return { name: "informers", run: (signal) => informers.run(signal) };
}

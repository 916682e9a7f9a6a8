import { NEWEST_VERSION, behavioursOf } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { standardErrorLogger } from "@kubewright/clock";
import { type Runnable, leaderFence, runAll } from "@kubewright/controller";
import { FakeKubelet } from "@kubewright/fake-kubelet";
import { FakeScheduler } from "@kubewright/fake-scheduler";
import { InformerFactory } from "@kubewright/informer";
import type { Transport } from "@kubewright/transport";

import { type Cluster, type ClusterOptions, WATCH_TIMEOUT_MS } from "./cluster.js";
import type { ComponentContext } from "./component-context.js";
import { ControllerProcess, type StartedProcess } from "./controller-process.js";
import { ControllerReplica } from "./controller-replica.js";
import { type ControllerName, checkedNames, clusterControllers, controllerNames } from "./controllers.js";
import { Faults } from "./faults.js";
import { Network } from "./network.js";
import { NodeLifecycleController } from "./node-lifecycle-controller.js";
import { defaultNodes, registerNodes } from "./nodes.js";
import { readyOrFailed } from "./ready-or-failed.js";
import { SilentNodes } from "./silent-nodes.js";
import { SkewedClock } from "./skewed-clock.js";

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
  | "onDecision"
  | "logger"
> {
  /** The way to the API server, whichever it is. */
  readonly transport: Transport;
  /**
   * How often the garbage collector asks what resources there are, in milliseconds. Default: when a CustomResourceDefinition
   * changes, which is enough for an API server of this package.
   */
  readonly discoveryIntervalMs?: number;
  /** Controller managers, of which one leads. Default 1, without an election. */
  readonly replicas?: number;
}

/** All of a cluster but its API server, in which things go wrong when they are told to. */
export interface Components extends Pick<Cluster, "run"> {
  readonly faults: Faults;
  /** The components' ways to the API server. Others may take theirs through it too. */
  readonly network: Network;
  /** Resolves once the nodes are registered; rejects as {@link Cluster.run} does, if that fails before. */
  ready(): Promise<void>;
}

/** Controllers of a faulty cluster: those of any cluster, and, with a kubelet, the one that deals with lost nodes. */
export type FaultyControllerName = ControllerName | "node-lifecycle-controller";

/**
 * Controllers, scheduler and kubelet, each with informers and a way to the API server of its own, so that each can be killed,
 * delayed, cut off and started again by itself.
 */
export function createComponents(options: ComponentsOptions): Components {
  const { start, parts, ...components } = makeComponents(options);
  const { run, ready } = readyOrFailed({
    start,
    run: (signal) => runAll(parts, signal),
    synced: () => Promise.resolve(),
  });
  return { ...components, run, ready: () => ready() };
}

/** The parts of {@link createComponents}, for whoever runs others beside them. */
export function makeComponents(options: ComponentsOptions): Pick<Components, "faults" | "network"> & {
  /** Registers the nodes. */
  readonly start: () => Promise<void>;
  readonly parts: readonly Runnable[];
} {
  const {
    clock,
    random,
    transport,
    kubelet: hosting = "simulated",
    nodes = defaultNodes,
    replicas: count = 1,
  } = options;
  const logger = options.logger ?? standardErrorLogger(clock, "cluster");
  const network = new Network({ transport, clock });
  const controllerClock = new SkewedClock(clock);
  const silentNodes = new SilentNodes();
  const contextFor = (name: string, label: string, transport: Transport): ComponentContext => {
    const own = random.fork(label);
    const client = new Client({ transport, clock, userAgent: name });
    return {
      client,
      clock,
      random: own,
      informers: new InformerFactory({
        client,
        clock,
        random: own.fork("informers"),
        minWatchTimeoutMs: WATCH_TIMEOUT_MS,
        onError: (error) => logger.debug({ err: error }, "Informer failed"),
      }),
      logger,
      localTimeZone: options.localTimeZone ?? "UTC",
      missedSince: options.missedSince,
      terminatedPodGCThreshold: options.terminatedPodGCThreshold,
      watchTimeoutMs: WATCH_TIMEOUT_MS,
      discoveryIntervalMs: options.discoveryIntervalMs ?? Infinity,
      behaviours: behavioursOf(options.kubernetesVersion ?? NEWEST_VERSION),
      onDecision: options.onDecision ?? (() => {}),
    };
  };
  const startController = (name: FaultyControllerName, label: string, mayAct: () => boolean): StartedProcess => {
    let alive = true;
    const transport = leaderFence(
      network.link(name, () => alive),
      mayAct,
    );
    const context: ComponentContext = {
      ...contextFor(name, label, transport),
      clock: controllerClock,
      // What was killed decides nothing any more.
      onDecision: (decision) => {
        if (alive) options.onDecision?.(decision);
      },
    };
    const controller: Runnable =
      name === "node-lifecycle-controller"
        ? new NodeLifecycleController({ ...context, silentNodes })
        : clusterControllers[name](context);
    return { parts: [running(context.informers), controller], kill: () => (alive = false) };
  };
  const enabled: readonly FaultyControllerName[] = [
    ...checkedNames(options.controllers ?? controllerNames, controllerNames),
    ...(hosting === "none" ? [] : (["node-lifecycle-controller"] as const)),
  ];
  const replicas = Array.from({ length: count }, (_, index): ControllerReplica => {
    const replicaName = `controller-manager-${index + 1}`;
    const mayAct = (): boolean => count === 1 || replica.mayAct;
    const processes = enabled.map((name) => {
      let incarnation = 0;
      return new ControllerProcess(name, () =>
        startController(name, `${replicaName}/${name}/${++incarnation}`, mayAct),
      );
    });
    const election = {
      client: new Client({ transport: network.link(electionOf(replicaName)), clock, userAgent: "leader-election" }),
      clock,
      random: random.fork(`${replicaName}/election`),
      logger,
    };
    const replica = new ControllerReplica(replicaName, processes, count === 1 ? undefined : election);
    return replica;
  });
  const forScheduler = contextFor("fake-scheduler", "fake-scheduler", network.link("scheduler"));
  const forKubelet = contextFor("fake-kubelet", "fake-kubelet", network.link("kubelet"));
  const kubelet = new FakeKubelet(forKubelet);
  const parts: Runnable[] = [...replicas];
  if (hosting === "simulated")
    parts.push(
      running(forScheduler.informers),
      new FakeScheduler(forScheduler),
      running(forKubelet.informers),
      kubelet,
    );
  return {
    network,
    faults: new Faults({ network, replicas, controllerClock, silentNodes, kubelet, clock, electionOf }),
    start: async () => {
      const client = new Client({ transport, clock, userAgent: "kubelet" });
      if (hosting === "simulated") await registerNodes(client, nodes, clock.now());
    },
    parts,
  };
}

/** What the network calls a replica's way to its Lease. */
function electionOf(replica: string): string {
  return `election of ${replica}`;
}

function running(informers: InformerFactory): Runnable {
  return { name: "informers", run: (signal) => informers.run(signal) };
}

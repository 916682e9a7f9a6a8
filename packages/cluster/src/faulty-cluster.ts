import { NEWEST_VERSION, behavioursOf } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { standardErrorLogger } from "@kubewright/clock";
import { type Runnable, leaderFence, runAll } from "@kubewright/controller";
import { FakeKubelet } from "@kubewright/fake-kubelet";
import { FakeScheduler } from "@kubewright/fake-scheduler";
import { InformerFactory } from "@kubewright/informer";
import type { Transport } from "@kubewright/transport";

import { type Cluster, type ClusterOptions, WATCH_TIMEOUT_MS, createCluster } from "./cluster.js";
import type { ComponentContext } from "./component-context.js";
import { ControllerProcess, type StartedProcess } from "./controller-process.js";
import { ControllerReplica } from "./controller-replica.js";
import { type ControllerName, clusterControllers } from "./controllers.js";
import { Faults } from "./faults.js";
import { Network } from "./network.js";
import { NodeLifecycleController } from "./node-lifecycle-controller.js";
import { defaultNodes, registerNodes } from "./nodes.js";
import { readyOrFailed } from "./ready-or-failed.js";
import { SilentNodes } from "./silent-nodes.js";
import { SkewedClock } from "./skewed-clock.js";

export interface FaultyClusterOptions extends Omit<ClusterOptions, "kubelet"> {
  /** Controller managers, of which one leads. Default 1, without an election. */
  readonly replicas?: number;
}

/** A cluster in which things go wrong when they are told to. */
export interface FaultyCluster extends Cluster {
  readonly faults: Faults;
}

/** Controllers of a faulty cluster: those of any cluster, and the one that deals with lost nodes. */
export type FaultyControllerName = ControllerName | "node-lifecycle-controller";

/**
 * A cluster whose every component has informers and a way to the API server of its own, so that each can be killed,
 * delayed, cut off and started again by itself. Costs more than {@link createCluster}, for nothing when nothing goes wrong.
 *
 * `informers` and `client` are the observer's, whom no fault concerns.
 */
export function createFaultyCluster(options: FaultyClusterOptions): FaultyCluster {
  const { clock, random, nodes = defaultNodes, replicas: count = 1 } = options;
  const logger = options.logger ?? standardErrorLogger(clock, "cluster");
  const cluster = createCluster({ ...options, controllers: [], kubelet: "none" });
  const network = new Network({ transport: cluster.apiServer.transport, clock });
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
    ...(options.controllers ?? (Object.keys(clusterControllers) as ControllerName[])),
    "node-lifecycle-controller",
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
  const scheduling = contextFor("fake-scheduler", "fake-scheduler", network.link("scheduler"));
  const hosting = contextFor("fake-kubelet", "fake-kubelet", network.link("kubelet"));
  const kubelet = new FakeKubelet(hosting);
  const parts: Runnable[] = [
    { name: "observer", run: (signal) => cluster.run(signal) },
    ...replicas,
    running(scheduling.informers),
    new FakeScheduler(scheduling),
    running(hosting.informers),
    kubelet,
  ];
  return {
    ...cluster,
    faults: new Faults({ network, replicas, controllerClock, silentNodes, kubelet, clock, electionOf }),
    ...readyOrFailed({
      start: () => registerNodes(cluster.client("kubelet"), nodes, clock.now()),
      run: (signal) => runAll(parts, signal),
      synced: (signal) => cluster.ready(signal),
    }),
  };
}

/** What the network calls a replica's way to its Lease. */
function electionOf(replica: string): string {
  return `election of ${replica}`;
}

function running(informers: InformerFactory): Runnable {
  return { name: "informers", run: (signal) => informers.run(signal) };
}

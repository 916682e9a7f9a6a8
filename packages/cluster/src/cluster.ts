import { type KubernetesVersion, NEWEST_VERSION } from "@kubewright/api";
import { type ApiServer, type ApiServerOptions, createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { type Clock, type Random, standardErrorLogger } from "@kubewright/clock";
import type { Logger, Runnable } from "@kubewright/controller";
import { InformerFactory } from "@kubewright/informer";
import { type ManagedContext, type ManagedController, Manager } from "@kubewright/manager";
import {
  type ControllerName,
  type Decision,
  type KubernetesContext,
  kubernetesControllers,
} from "@kubewright/manager/kubernetes";

import { controllerOptions } from "./controller-options.js";
import { FakeKubelet } from "./kubelet/fake-kubelet.js";
import { type NodeShape, defaultNodes, registerNodes } from "./nodes.js";
import { runWithReadiness } from "./ready-or-failed.js";
import { FakeScheduler } from "./scheduler/fake-scheduler.js";

export interface ClusterOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Release whose API server and Job controller behaviour is used. Default: the newest. */
  readonly kubernetesVersion?: KubernetesVersion;
  /**
   * Controllers to run, by upstream name. Default: all. Empty: only the API server (and kubelet and scheduler, unless
   * `none`).
   */
  readonly controllers?: readonly ControllerName[];
  /**
   * `none` runs neither scheduler nor kubelet, so that pods change only by requests of clients. Default `simulated`.
   */
  readonly kubelet?: "simulated" | "none";
  /** Nodes of a cluster with a kubelet. Default: three of 16 cores, 64Gi and 110 pods. */
  readonly nodes?: readonly NodeShape[];
  /** Zone of CronJobs without `timeZone`. Default `UTC`. */
  readonly localTimeZone?: string;
  /**
   * CronJob slots before this time, in epoch milliseconds, are excluded from the missed slots of decisions. For a
   * cluster that continues from the state of another one, which has already reported them. Default: all slots are
   * reported.
   */
  readonly missedSince?: number;
  /**
   * Number of ended pods in the cluster that PodGC keeps. PodGC deletes none when the number is not positive. Default
   * 12500.
   */
  readonly terminatedPodGCThreshold?: number;
  /**
   * Whether the API server creates the Service `kubernetes`, ServiceAccounts `default` and RBAC's roles. Default false.
   */
  readonly createDefaultObjects?: boolean;
  /**
   * CA certificate that signed the API server's certificate, PEM. A cluster with default objects and controllers stores
   * it in a ConfigMap `kube-root-ca.crt` of every namespace. Default: none.
   */
  readonly rootCA?: string;
  /** Additional kinds of the API server. A kind here replaces the built-in one of the same name. */
  readonly resources?: ApiServerOptions["resources"];
  /** Whether pods may have privileged containers. Default true. */
  readonly allowPrivileged?: boolean;
  /** Snapshot of an earlier cluster's API server to start from. resourceVersions continue from there. */
  readonly restore?: ApiServerOptions["restore"];
  /** Additional paths that the API server serves to authorized clients. */
  readonly paths?: ApiServerOptions["paths"];
  /** Authenticates clients that connect over a socket. Default: all are accepted. */
  readonly authentication?: ApiServerOptions["authentication"];
  /** Authorizes their requests. Default: all are allowed. */
  readonly authorization?: ApiServerOptions["authorization"];
  /** Calls the webhooks of WebhookConfigurations. Default: no webhook is called. */
  readonly webhooks?: ApiServerOptions["webhooks"];
  /** Features of the API server to enable or disable. Default: as in kube-apiserver. */
  readonly featureGates?: ApiServerOptions["featureGates"];
  /** Receives the counts of sharded watches. Default: none. */
  readonly shardMetrics?: ApiServerOptions["shardMetrics"];
  /** Receives every request to the API server before it is served, and may answer in its place. */
  readonly intercept?: ApiServerOptions["intercept"];
  /**
   * Whether the API server performs the parts of kube-controller-manager that its objects need. For example, it counts
   * ResourceQuotas and removes the protection of deleted volumes. Default: when there are controllers.
   */
  readonly managed?: boolean;
  /** Whether the API server maintains `metadata.managedFields`, which costs a tenth of its time. Default true. */
  readonly trackFields?: boolean;
  /** Milliseconds between progress bookmarks of open watches. Default 60,000. */
  readonly bookmarkIntervalMs?: number;
  /** Number of changes of each resource that the API server stores, for interrupted watches. Default 10,000. */
  readonly historyLimit?: number;
  /** Called with every decision of every controller. */
  readonly onDecision?: (decision: Decision) => void;
  /** Default: writes warnings and errors to standard error. */
  readonly logger?: Logger;
  /** Deep-freezes stored objects, so that a component that modifies a shared object fails. For tests. Default false. */
  readonly freeze?: boolean;
}

/** Options of a kubelet that replaces the simulated one. */
export interface KubeletOptions {
  /** Creates the kubelet that replaces the simulated one. */
  readonly makeKubelet?: (context: ManagedContext) => Runnable;
  /** Serves the logs of its containers. Default: no container runs. */
  readonly containerLogs?: ApiServerOptions["containerLogs"];
}

/** Watches between components of one process need no periodic renewal; a day keeps long simulations cheap. */
export const WATCH_TIMEOUT_MS = 24 * 3_600_000;

/** An API server, controllers, scheduler and kubelet in this process, over one clock and one source of randomness. */
export interface Cluster {
  readonly apiServer: ApiServer;
  /** Informers that the components share. Handlers must be added before {@link run}. */
  readonly informers: InformerFactory;
  /** Returns a client of this cluster's API server, in process and without a rate limit. */
  client(userAgent: string): Client;
  /**
   * Runs all components until the signal aborts, then resolves once all work in flight has finished. Rejects when a
   * component fails, after stopping the others.
   */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Resolves once the nodes are registered and every component has received the initial state. Resolves only while
   * {@link run} is running.
   *
   * @throws InvalidNodeError for a node that the API server refuses, or the error with which {@link run} fails before.
   */
  ready(signal?: AbortSignal): Promise<void>;
}

export function createCluster(options: ClusterOptions & KubeletOptions): Cluster {
  const { clock, random, kubelet = "simulated", nodes = defaultNodes } = options;
  const { kubernetesVersion = NEWEST_VERSION } = options;
  const logger = options.logger ?? standardErrorLogger(clock, "cluster");
  const controllers = kubernetesControllers(
    controllerOptions({
      ...options,
      watchTimeoutMs: WATCH_TIMEOUT_MS,
      // The built-in resources never change. A CustomResourceDefinition notifies the garbage collector of the others.
      discoveryIntervalMs: Infinity,
    }),
    options.controllers,
  );
  const apiServer = createApiServer({
    clock,
    random: random.fork("apiserver"),
    kubernetesVersion,
    freeze: options.freeze ?? false,
    trackFields: options.trackFields ?? true,
    createDefaultObjects: options.createDefaultObjects ?? false,
    managed: options.managed ?? controllers.length > 0,
    allowPrivileged: options.allowPrivileged ?? true,
    ...(options.rootCA === undefined ? {} : { rootCA: options.rootCA }),
    ...(options.bookmarkIntervalMs === undefined ? {} : { bookmarkIntervalMs: options.bookmarkIntervalMs }),
    ...(options.historyLimit === undefined ? {} : { historyLimit: options.historyLimit }),
    ...(options.intercept === undefined ? {} : { intercept: options.intercept }),
    ...(options.resources === undefined ? {} : { resources: options.resources }),
    ...(options.restore === undefined ? {} : { restore: options.restore }),
    ...(options.authentication === undefined ? {} : { authentication: options.authentication }),
    ...(options.authorization === undefined ? {} : { authorization: options.authorization }),
    ...(options.featureGates === undefined ? {} : { featureGates: options.featureGates }),
    ...(options.shardMetrics === undefined ? {} : { shardMetrics: options.shardMetrics }),
    ...(options.webhooks === undefined ? {} : { webhooks: options.webhooks }),
    ...(options.paths === undefined ? {} : { paths: options.paths }),
    ...(options.containerLogs === undefined ? {} : { containerLogs: options.containerLogs }),
    onError: (error) => logger.error({ err: error }, "API server failed"),
  });
  const client = (userAgent: string): Client => new Client({ transport: apiServer.transport, clock, userAgent });
  const informers = new InformerFactory({
    client: client("shared-informers"),
    clock,
    random: random.fork("informers"),
    minWatchTimeoutMs: WATCH_TIMEOUT_MS,
    onError: (error) => logger.error({ err: error }, "Informer failed"),
  });
  const { makeKubelet = (context) => new FakeKubelet(context) } = options;
  const nodeComponents: readonly ManagedController<KubernetesContext>[] = [
    { name: "fake-scheduler", sharing: "none", build: (context) => new FakeScheduler(context) },
    { name: "fake-kubelet", sharing: "none", build: makeKubelet },
  ];
  const manager = new Manager<KubernetesContext>({
    controllers: [...controllers, ...(kubelet === "none" ? [] : nodeComponents)],
    caches: [informers],
    clock,
    logger,
    depsFor: ({ name }) => ({
      client: client(name),
      clock,
      random: random.fork(name),
      logger,
      onDecision: options.onDecision,
    }),
  });
  return {
    apiServer,
    informers,
    client,
    ...runWithReadiness({
      start: async () => {
        if (kubelet !== "none") await registerNodes(client("kubelet"), nodes, clock.now());
      },
      run: (signal) => manager.run(signal),
      synced: (signal) => informers.waitForCacheSync(signal),
    }),
  };
}

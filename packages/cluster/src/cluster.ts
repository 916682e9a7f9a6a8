import { type KubernetesVersion, NEWEST_VERSION, behavioursOf } from "@kubewright/api";
import { type ApiServer, type ApiServerOptions, createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { type Clock, type Random, standardErrorLogger } from "@kubewright/clock";
import { type Logger, type Runnable, runInStages } from "@kubewright/controller";
import { FakeKubelet } from "@kubewright/fake-kubelet";
import { FakeScheduler } from "@kubewright/fake-scheduler";
import { InformerFactory } from "@kubewright/informer";

import type { ComponentContext } from "./component-context.js";
import { type ControllerName, type Decision, checkNames, clusterControllers, controllerNames } from "./controllers.js";
import { type NodeShape, defaultNodes, registerNodes } from "./nodes.js";
import { runWithReadiness } from "./ready-or-failed.js";

export interface ClusterOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The release whose API server and Job controller these are. Default: the newest. */
  readonly kubernetesVersion?: KubernetesVersion;
  /** Controllers to run, by upstream name. Default: all. Empty: only the API server (and kubelet and scheduler, unless `none`). */
  readonly controllers?: readonly ControllerName[];
  /** `none` runs neither scheduler nor kubelet: pods stay as they are until somebody else changes them. Default `simulated`. */
  readonly kubelet?: "simulated" | "none";
  /** Machines of a cluster with a kubelet. Default: three of 16 cores, 64Gi and 110 pods. */
  readonly nodes?: readonly NodeShape[];
  /** Zone of CronJobs without `timeZone`. Default `UTC`. */
  readonly localTimeZone?: string;
  /**
   * Slots of CronJobs before this time, in epoch milliseconds, are history: no decision lists them as missed. For a cluster
   * that goes on where another, which has told of them, was left. Default: all are told.
   */
  readonly missedSince?: number;
  /** Ended pods of the whole cluster that are let be; none are collected when not positive. Default 12500. */
  readonly terminatedPodGCThreshold?: number;
  /** Whether there are the Service `kubernetes`, ServiceAccounts `default` and RBAC's roles. Default false. */
  readonly createDefaultObjects?: boolean;
  /**
   * The authority that the API server's certificate is of, PEM: a furnished cluster with controllers keeps it in a ConfigMap
   * `kube-root-ca.crt` of every namespace. Default: there is none.
   */
  readonly rootCA?: string;
  /** Kinds that the API server knows besides its own, or in place of them. */
  readonly resources?: ApiServerOptions["resources"];
  /** Whether pods may have privileged containers. Default true. */
  readonly allowPrivileged?: boolean;
  /** Begins with what an earlier cluster's API server kept; resourceVersions go on from there. */
  readonly restore?: ApiServerOptions["restore"];
  /** More paths for the API server to serve, to those who may get them. */
  readonly paths?: ApiServerOptions["paths"];
  /** Who may talk to the API server over a socket. Default: anybody. */
  readonly authentication?: ApiServerOptions["authentication"];
  /** What they may do. Default: everything. */
  readonly authorization?: ApiServerOptions["authorization"];
  /** Calls the webhooks of WebhookConfigurations. Default: nobody is called. */
  readonly webhooks?: ApiServerOptions["webhooks"];
  /** Features of the API server to switch on or off. Default: as in kube-apiserver. */
  readonly featureGates?: ApiServerOptions["featureGates"];
  /** Told of the watches of shards. Default: nobody is. */
  readonly shardMetrics?: ApiServerOptions["shardMetrics"];
  /** Sees every request to the API server before it is served, and may answer in its place. */
  readonly intercept?: ApiServerOptions["intercept"];
  /** Whether the API server counts for ResourceQuotas and lets go of volumes. Default: when there are controllers. */
  readonly managed?: boolean;
  /** Whether the API server keeps up `metadata.managedFields`, which costs a tenth of its time. Default true. */
  readonly trackFields?: boolean;
  /** Milliseconds between progress bookmarks of open watches. Default 60,000. */
  readonly bookmarkIntervalMs?: number;
  /** Changes that the API server remembers of each resource, for watches that were cut off. Default 10,000. */
  readonly historyLimit?: number;
  /** Hears every decision of every controller. */
  readonly onDecision?: (decision: Decision) => void;
  /** Default: standard error, for warnings and errors. */
  readonly logger?: Logger;
  /** Deep-freezes stored objects, so that a component that writes to what it was handed fails. For tests. Default false. */
  readonly freeze?: boolean;
}

/** A kubelet of somebody else's. */
export interface KubeletOptions {
  /** Makes the kubelet that runs in place of the simulated one. */
  readonly makeKubelet?: (context: ComponentContext) => Runnable;
  /** What its containers write. Default: none are run. */
  readonly containerLogs?: ApiServerOptions["containerLogs"];
}

/** Watches between components of one process need no periodic renewal; a day keeps long simulations cheap. */
export const WATCH_TIMEOUT_MS = 24 * 3_600_000;

/** An API server, controllers, scheduler and kubelet in this process, over one clock and one source of randomness. */
export interface Cluster {
  readonly apiServer: ApiServer;
  /** The informers its components share: add handlers before {@link run}. */
  readonly informers: InformerFactory;
  /** A client of this cluster's API server, in process and without a rate limit. */
  client(userAgent: string): Client;
  /**
   * Runs everything until the signal aborts, then resolves once all work in flight has finished.
   * Rejects when a component fails, after stopping the others.
   */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Resolves once the nodes are registered and every component has seen the initial state. Only while running; rejects as
   * {@link run} does, if that fails before, with an {@link InvalidNodeError} for a node that the API server refuses.
   */
  ready(signal?: AbortSignal): Promise<void>;
}

export function createCluster(options: ClusterOptions & KubeletOptions): Cluster {
  const { clock, random, kubelet = "simulated", nodes = defaultNodes } = options;
  const { kubernetesVersion = NEWEST_VERSION } = options;
  const logger = options.logger ?? standardErrorLogger(clock, "cluster");
  const enabled = checkNames(options.controllers ?? controllerNames, controllerNames);
  const apiServer = createApiServer({
    clock,
    random: random.fork("apiserver"),
    kubernetesVersion,
    freeze: options.freeze ?? false,
    trackFields: options.trackFields ?? true,
    createDefaultObjects: options.createDefaultObjects ?? false,
    managed: options.managed ?? enabled.length > 0,
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
  const contextFor = (name: string): ComponentContext => ({
    client: client(name),
    clock,
    random: random.fork(name),
    informers,
    logger,
    localTimeZone: options.localTimeZone ?? "UTC",
    missedSince: options.missedSince,
    terminatedPodGCThreshold: options.terminatedPodGCThreshold,
    watchTimeoutMs: WATCH_TIMEOUT_MS,
    // The built-in resources never change, and others come with a CustomResourceDefinition, which is heard of by itself.
    discoveryIntervalMs: Infinity,
    behaviours: behavioursOf(kubernetesVersion),
    onDecision: options.onDecision ?? (() => {}),
  });
  const components: Runnable[] = enabled.map((name) => clusterControllers[name](contextFor(name)));
  if (kubelet !== "none") {
    const { makeKubelet = (context) => new FakeKubelet(context) } = options;
    components.push(new FakeScheduler(contextFor("fake-scheduler")), makeKubelet(contextFor("fake-kubelet")));
  }
  return {
    apiServer,
    informers,
    client,
    ...runWithReadiness({
      start: async () => {
        if (kubelet !== "none") await registerNodes(client("kubelet"), nodes, clock.now());
      },
      run: (signal) => runInStages([components, [informers]], signal),
      synced: (signal) => informers.waitForCacheSync(signal),
    }),
  };
}

import { type Runnable, runAll } from "@kubewright/controller";

import { type Cluster, type ClusterOptions, createCluster } from "./cluster.js";
import { type Components, type ComponentsOptions, makeComponents } from "./components.js";
import { runWithReadiness } from "./ready-or-failed.js";
import { VersionLog } from "./version-log.js";

export interface FaultyClusterOptions
  extends
    Omit<ClusterOptions, "onDecision">,
    Pick<
      ComponentsOptions,
      | "onDecision"
      | "replicas"
      | "sharding"
      | "leaseDurationsMs"
      | "jobController"
      | "garbageCollectorIgnores"
      | "recordsEvents"
      | "others"
      | "delays"
      | "onInformer"
      | "onFailure"
      | "watchTimeoutMs"
    > {}

/** A cluster in which faults can be injected. */
export interface FaultyCluster
  extends Cluster, Pick<Components, "faults" | "network" | "renewalDeferral" | "leaders" | "runs" | "shards"> {}

/**
 * Creates a cluster whose components each have their own informers and transport to the API server. Each can therefore
 * be killed, delayed, disconnected and restarted individually. It costs more than {@link createCluster} even without
 * faults.
 *
 * `informers` and `client` belong to the observer, which no fault affects.
 */
export function createFaultyCluster(options: FaultyClusterOptions): FaultyCluster {
  const { onDecision: _onDecision, ...shared } = options;
  const cluster = createCluster({
    managed: options.controllers?.length !== 0,
    ...shared,
    // The components run beside this cluster, with their own transports.
    controllers: [],
    kubelet: "none",
  });
  const { apiServer } = cluster;
  const versions = new VersionLog(apiServer, options.clock);
  const { start, runnables, ...rest } = makeComponents({
    ...options,
    transport: apiServer.transport,
    // An interceptor may prevent a renewal.
    leaseRenewals: options.intercept === undefined ? apiServer.leaseRenewals : undefined,
    versionBefore: (agoMs) => versions.versionBefore(agoMs),
  });
  const observer: Runnable = { name: "observer", run: (signal) => cluster.run(signal) };
  return {
    ...cluster,
    ...rest,
    ...runWithReadiness({
      start,
      run: (signal) => runAll([observer, ...runnables], signal),
      synced: (signal) => cluster.ready(signal),
    }),
  };
}

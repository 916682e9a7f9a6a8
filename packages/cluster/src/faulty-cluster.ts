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

/** A cluster in which things go wrong when they are told to. */
export interface FaultyCluster
  extends Cluster, Pick<Components, "faults" | "network" | "leaders" | "runs" | "shards"> {}

/**
 * A cluster whose every component has informers and a way to the API server of its own, so that each can be killed,
 * delayed, cut off and started again by itself. Costs more than {@link createCluster}, for nothing when nothing goes wrong.
 *
 * `informers` and `client` are the observer's, whom no fault concerns.
 */
export function createFaultyCluster(options: FaultyClusterOptions): FaultyCluster {
  const { onDecision: _onDecision, ...shared } = options;
  const cluster = createCluster({
    managed: options.controllers?.length !== 0,
    ...shared,
    // They run beside it, in ways of their own.
    controllers: [],
    kubelet: "none",
  });
  const { apiServer } = cluster;
  const versions = new VersionLog(apiServer, options.clock);
  const { start, runnables, ...rest } = makeComponents({
    ...options,
    transport: apiServer.transport,
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

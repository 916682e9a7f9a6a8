import { Client } from "@kubewright/client";
import { LogThrottle, TokenBucket, uuid } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";
import { GarbageCollector } from "@kubewright/garbage-collector";
import { withoutManagedFields } from "@kubewright/informer";
import { controllerStopTimeoutMs } from "@kubewright/manager";
import type { KubernetesContext, KubernetesController } from "@kubewright/manager/kubernetes";
import { ShardedManager } from "@kubewright/manager/sharded";
import { type BucketWork, CLUSTER_BUCKET, bucketName, memberMetrics } from "@kubewright/sharding";
import type { Transport } from "@kubewright/transport";

import { rateLimitOf } from "../clients.js";
import type { ControllerManagerDeps } from "../controller-manager-deps.js";
import { leaseOf } from "../options/leader-election-options.js";
import { layoutOf } from "../options/sharding-options.js";
import type { OutageLog } from "../outage-log.js";
import { chosenControllers, errorTopic } from "../run-controllers.js";
import { userAgent } from "../user-agent.js";
import { waitForHealthy } from "../wait-for-healthy.js";
import { LeaderWatch } from "./other-managers.js";
import { shardGroupOf } from "./shard-group.js";
import { shardTimingOf } from "./shard-timing.js";
import { shardsRoute } from "./shards-route.js";

/**
 * Runs as one of several replicas, each for some buckets of namespaces, until the signal aborts. Then it drains and
 * releases its buckets. The owner of the bucket `cluster` also holds the Lease of leader election, so that managers
 * without sharding stand by.
 *
 * @throws MemberError when other members have fenced this process; Error when the API server does not become healthy.
 * The caller must then end the process.
 */
export async function runSharded(deps: ControllerManagerDeps, outage: OutageLog, signal: AbortSignal): Promise<void> {
  const { options, clock, random, build, operations } = deps;
  const logger = deps.loggerFor();
  const transport = outage.observeTransport(deps.transport);
  try {
    await waitForHealthy({ transport, clock, logger, userAgent: userAgent(build, "kube-controller-manager"), signal });
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  const controllers = chosenControllers(deps, logger);
  const identity = identityOf(deps);
  const layout = layoutOf(options.shardingSplitNamespaces);
  const clientOf = (name: string, through: Transport, rateLimit?: TokenBucket): Client =>
    new Client({
      transport: through,
      clock,
      // So that the API server's audit log shows which replica wrote.
      userAgent: `${userAgent(build, name)} (${identity})`,
      metrics: operations?.requests,
      ...(rateLimit === undefined ? {} : { rateLimit }),
    });
  const client = clientOf("sharding", transport);
  const stopWatching = new AbortController();
  const leader = new LeaderWatch({ options, client, clock, logger, signal: stopWatching.signal });
  const lines = new LogThrottle({ clock, logger: outage.quietLogger(logger) });
  /** The latest garbage collector: one is created each time this replica acquires the cluster bucket. */
  let collector: GarbageCollector | undefined;
  const clientFor = sharedLimitClients(deps, clientOf);
  const manager = new ShardedManager<KubernetesContext>({
    controllers,
    clock,
    random,
    logger,
    transport,
    memberClient: client,
    readClient: clientOf("shared-informers", transport),
    member: {
      namespace: options.leaderElectResourceNamespace,
      group: shardGroupOf(options.leaderElectResourceName),
      identity,
      version: build.version,
      layout,
      timing: shardTimingOf(options),
      blockReason: () => leader.blockReason,
      metrics: operations === undefined ? undefined : memberMetrics(operations.metrics.common),
    },
    informers: {
      transform: withoutManagedFields,
      resyncMs: options.minResyncPeriodMs * (1 + random.fork("resync").next()),
      informerName: "kube-controller-manager",
      metrics: operations?.metrics.common.informers,
      onError: (error) => lines.warn(errorTopic(error), { err: error }, "Informer failed, going on"),
    },
    election: ({ work }) => ({
      ...leaseOf(options),
      client,
      clock,
      random: random.fork(`leader at ${work.epoch}`),
      identity,
      metrics: operations?.metrics.common.leaderElection,
      logger,
    }),
    depsFor: (controller, { work, transport: fenced }) => ({
      client: clientFor(controller as KubernetesController, fenced),
      clock,
      random: random.fork(`${controller.name} of bucket ${work.name} at ${work.epoch}`),
      logger: bucketLogger(outage.quietLogger(deps.loggerFor(controller.name)), controller, work),
      stopTimeoutMs: controllerStopTimeoutMs(options.controllerShutdownTimeoutMs),
      queueMetrics: operations?.metrics.common.queues,
    }),
    onController: (built) => {
      if (!(built instanceof GarbageCollector)) return;
      if (collector === undefined) operations?.addGarbageCollector({ dumpGraph: (uids) => collector!.dumpGraph(uids) });
      collector = built;
    },
  });
  const { member } = manager;
  if (operations !== undefined) {
    operations.health.addControllers(controllers.map(({ name }) => name));
    operations.health.trackShardMember(member);
    operations.addRoute(shardsRoute(() => member.status(), { layout, informers: manager.informers }));
  }
  if (controllers.some(({ name }) => name === "garbage-collector-controller"))
    logger.info(
      { bucket: bucketName(CLUSTER_BUCKET) },
      "The garbage collector runs at one replica, for the whole cluster",
    );
  const watchingLeader = leader.run(
    () => member.holdsLease,
    (holder) => member.hasMember(holder),
  );
  try {
    await manager.run(signal);
  } finally {
    stopWatching.abort(new Error("this replica has ended"));
    await watchingLeader;
  }
}

/** Identity of this replica. It is part of a Lease's name: lower case letters, digits, `-` and `.`. */
function identityOf({ hostname, random }: ControllerManagerDeps): string {
  const host = hostname
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 63);
  return `${host || "host"}-${uuid(random.fork("shard identity")).slice(0, 8)}`;
}

/** Creates the clients of buckets: all clients of a controller share one rate limit, as if there were one client. */
function sharedLimitClients(
  { options, clock }: ControllerManagerDeps,
  clientOf: (name: string, transport: Transport, rateLimit?: TokenBucket) => Client,
): (controller: KubernetesController, transport: Transport) => Client {
  const limits = new Map<string, TokenBucket>();
  return ({ clientName, requestsPerAction }, transport) => {
    const { rateLimit } = rateLimitOf(options, requestsPerAction);
    if (rateLimit === undefined) return clientOf(clientName, transport);
    const { qps: perSecond, burst } = rateLimit;
    const limit = limits.get(clientName) ?? new TokenBucket({ clock, perSecond, burst });
    limits.set(clientName, limit);
    return clientOf(clientName, transport, limit);
  };
}

/** Adds the bucket to log lines. Most controllers start and stop with every bucket: they log that at debug level. */
function bucketLogger(logger: Logger, { name }: { readonly name: string }, { name: bucket }: BucketWork): Logger {
  const info = name === "pod-garbage-collector-controller" ? "info" : "debug";
  return {
    debug: (fields, message) => logger.debug({ bucket, ...fields }, message),
    info: (fields, message) => logger[info]({ bucket, ...fields }, message),
    warn: (fields, message) => logger.warn({ bucket, ...fields }, message),
    error: (fields, message) => logger.error({ bucket, ...fields }, message),
  };
}

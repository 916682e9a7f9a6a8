import { Client } from "@kubewright/client";
import { LogThrottle, TokenBucket, uuid } from "@kubewright/clock";
import { LeaderElector, type Logger } from "@kubewright/controller";
import type { GarbageCollector } from "@kubewright/garbage-collector";
import { withoutManagedFields } from "@kubewright/informer";
import { TerminatedPodCounts } from "@kubewright/podgc";
import {
  BucketInformers,
  type BucketWork,
  CLUSTER_BUCKET,
  LeaseLostError,
  ShardMember,
  bucketName,
  memberMetrics,
} from "@kubewright/sharding";
import type { Transport } from "@kubewright/transport";

import type { ControllerManagerDeps } from "../controller-manager.js";
import type { ControllerName, ImplementedController } from "../controller-names.js";
import { rateLimitOf } from "../clients.js";
import { layoutOf } from "../options/sharding-options.js";
import type { OutageLog } from "../outage-log.js";
import { chosenControllers, errorTopic } from "../run-controllers.js";
import { userAgent } from "../user-agent.js";
import { waitForHealthy } from "../wait-for-healthy.js";
import { type BucketControllersOptions, runClusterWide, runNamespaces } from "./bucket-controllers.js";
import { LeaderWatch } from "./other-managers.js";
import { shardGroupOf } from "./shard-group.js";
import { shardTimingOf } from "./shard-timing.js";
import { type ShardedCaches, shardsRoute } from "./shards-route.js";

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
  const names = chosenControllers(deps, logger);
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
  const informers = new BucketInformers({
    client: clientOf("shared-informers", transport),
    clock,
    random: random.fork("informers of buckets"),
    layout,
    transform: withoutManagedFields,
    resyncMs: options.minResyncPeriodMs * (1 + random.fork("resync").next()),
    informerName: "kube-controller-manager",
    metrics: operations?.metrics.common.informers,
    onError: (error) => lines.warn(errorTopic(error), { err: error }, "Informer failed, going on"),
  });
  const terminatedPods = new TerminatedPodCounts(() => member.annotationsOfOthers);
  /** The latest garbage collector: one is created each time this replica acquires the cluster bucket. */
  let collector: GarbageCollector | undefined;
  const given: BucketControllersOptions = {
    deps,
    names,
    clientFor: sharedLimitClients(deps, clientOf),
    informers,
    terminatedPods,
    loggerFor: (name) => outage.quietLogger(deps.loggerFor(name)),
    onCollector: (made) => {
      if (collector === undefined) operations?.addGarbageCollector({ dumpGraph: (uids) => collector!.dumpGraph(uids) });
      collector = made;
    },
  };
  const member: ShardMember = new ShardMember({
    client,
    transport,
    clock,
    random: random.fork("sharding"),
    namespace: options.leaderElectResourceNamespace,
    group: shardGroupOf(options.leaderElectResourceName),
    identity,
    version: build.version,
    layout,
    timing: shardTimingOf(options),
    annotations: () => terminatedPods.annotations(),
    blockReason: () => leader.blockReason,
    runBucket: (work, stop) =>
      work.bucket === CLUSTER_BUCKET
        ? runClusterWideAsLeader(given, { work, identity, client }, stop)
        : runNamespaces(given, work, stop),
    metrics: operations === undefined ? undefined : memberMetrics(operations.metrics.common),
    logger,
  });
  registerWithOperations(deps, names, member, { layout, informers });
  if (names.includes("garbage-collector-controller"))
    logger.info(
      { bucket: bucketName(CLUSTER_BUCKET) },
      "The garbage collector runs at one replica, for the whole cluster",
    );
  const reading = informers.run(stopWatching.signal);
  const watchingLeader = leader.run(
    () => member.holdsLease,
    (holder) => member.hasMember(holder),
  );
  try {
    await member.run(signal);
  } finally {
    stopWatching.abort(new Error("this replica has ended"));
    await Promise.all([reading, watchingLeader]);
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
): BucketControllersOptions["clientFor"] {
  const limits = new Map<string, TokenBucket>();
  return ({ clientName, requestsPerAction = 1 }: ImplementedController, transport) => {
    const { rateLimit } = rateLimitOf(options, requestsPerAction);
    if (rateLimit === undefined) return clientOf(clientName, transport);
    const { qps: perSecond, burst } = rateLimit;
    const limit = limits.get(clientName) ?? new TokenBucket({ clock, perSecond, burst });
    limits.set(clientName, limit);
    return clientOf(clientName, transport, limit);
  };
}

/** Runs the cluster-wide work while this replica also holds the Lease of leader election. */
async function runClusterWideAsLeader(
  given: BucketControllersOptions,
  { work, identity, client }: { readonly work: BucketWork; readonly identity: string; readonly client: Client },
  signal: AbortSignal,
): Promise<void> {
  const { deps } = given;
  const { options, clock, random, operations } = deps;
  const logger: Logger = deps.loggerFor();
  const ended = Promise.withResolvers<void>();
  const elector = new LeaderElector({
    client,
    clock,
    random: random.fork(`leader at ${work.epoch}`),
    namespace: options.leaderElectResourceNamespace,
    name: options.leaderElectResourceName,
    identity,
    leaseDurationMs: options.leaderElectLeaseDurationMs,
    renewDeadlineMs: options.leaderElectRenewDeadlineMs,
    retryPeriodMs: options.leaderElectRetryPeriodMs,
    releaseOnCancel: true,
    stopTimeoutMs: Infinity,
    metrics: operations?.metrics.common.leaderElection,
    logger,
    callbacks: {
      onStartedLeading: async (leading) => {
        try {
          await runClusterWide(given, work, leading);
        } catch (error) {
          ended.reject(error);
        }
      },
      onStoppedLeading: () => {
        if (!signal.aborted) ended.reject(new LeaseLostError("leaderelection lost/stopped"));
      },
    },
  });
  const running = elector.run(signal).then(
    () => ended.resolve(),
    (error: unknown) => ended.reject(error),
  );
  await ended.promise;
  await running;
}

function registerWithOperations(
  { operations }: ControllerManagerDeps,
  names: readonly ControllerName[],
  member: ShardMember,
  caches: ShardedCaches,
): void {
  if (operations === undefined) return;
  operations.health.addControllers(names);
  operations.health.trackShardMember(member);
  operations.addRoute(shardsRoute(() => member.status(), caches));
}

import { Client } from "@kubewright/client";
import { uuid } from "@kubewright/clock";
import { EventRecorder, leaderFence } from "@kubewright/controller";
import { runAsLeader } from "@kubewright/manager";
import type { Transport } from "@kubewright/transport";

import type { ControllerManagerDeps } from "./controller-manager-deps.js";
import { UPSTREAM_LEASE, ensureNoLiveManager } from "./live-manager.js";
import { leaseOf } from "./options/leader-election-options.js";
import { OutageLog } from "./outage-log.js";
import { runControllers } from "./run-controllers.js";
import { ensureNoLiveMembers } from "./sharding/other-managers.js";
import { runSharded } from "./sharding/run-sharded.js";
import { userAgent } from "./user-agent.js";
import { waitForHealthy } from "./wait-for-healthy.js";

const MIN_LEASE_REQUEST_TIMEOUT_MS = 1_000;
/** Timeout for reading the Lease of kube-controller-manager. */
const LEASE_READ_TIMEOUT_MS = 10_000;

/**
 * Runs the enabled controllers until the signal aborts, under a Lease if leader election is on. On shutdown the
 * controllers start no more work, finish what is in flight, and their events are written. Then the Lease is released.
 *
 * Upstream ends at SIGTERM immediately unless a feature gate is on. With the gate it releases the Lease while
 * controllers still drain.
 *
 * @throws UsageError when it must not run beside a live kube-controller-manager; Error when the API server does not
 * become healthy, a controller fails, the Lease is lost, or controllers do not stop in time. The caller must then end
 * the process, because work in flight continues.
 * @see kubernetes v1.36 cmd/kube-controller-manager/app/controllermanager.go Run
 */
export async function runControllerManager(deps: ControllerManagerDeps, signal: AbortSignal): Promise<void> {
  const { options, clock } = deps;
  const outage = new OutageLog({ clock, logger: deps.loggerFor() });
  try {
    await ensureNoOtherManager(deps, signal);
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  if (options.sharding !== "") await runSharded(deps, outage, signal);
  else if (options.leaderElect) await lead(deps, outage, signal);
  else {
    await ensureNoShardMembers(deps, signal);
    await runControllers({ deps, fence: (transport) => transport, outage }, signal);
  }
}

async function ensureNoShardMembers(deps: ControllerManagerDeps, signal: AbortSignal): Promise<void> {
  const { options, transport, clock, build } = deps;
  const agent = userAgent(build, "leader-election");
  const client = new Client({ transport, clock, userAgent: agent, timeoutMs: LEASE_READ_TIMEOUT_MS });
  try {
    await ensureNoLiveMembers({ options, client, clock, logger: deps.loggerFor(), signal });
  } catch (error) {
    // On shutdown the result does not matter.
    if (!signal.aborted) throw error;
  }
}

/**
 * Checks for a live kube-controller-manager. A manager that contends for its Lease needs no check: the Lease excludes
 * one of the two.
 */
async function ensureNoOtherManager(deps: ControllerManagerDeps, signal: AbortSignal): Promise<void> {
  const { options, transport, clock, build } = deps;
  const { namespace, name } = UPSTREAM_LEASE;
  const usesUpstreamLease =
    options.leaderElect &&
    options.sharding === "" &&
    options.leaderElectResourceName === name &&
    options.leaderElectResourceNamespace === namespace;
  if (options.managedBy !== "" || options.takeOver || usesUpstreamLease) return;
  const logger = deps.loggerFor();
  const agent = userAgent(build, "kube-controller-manager");
  // A standby waits for the API server without limit; without a Lease the manager waits for ten seconds.
  if (!options.leaderElect) await waitForHealthy({ transport, clock, logger, userAgent: agent, signal });
  const client = new Client({ transport, clock, userAgent: agent, timeoutMs: LEASE_READ_TIMEOUT_MS });
  await ensureNoLiveManager({ client, clock, logger, signal });
}

async function lead(deps: ControllerManagerDeps, outage: OutageLog, signal: AbortSignal): Promise<void> {
  const { options, clock, random, build, operations } = deps;
  const logger = deps.loggerFor();
  let lost = false;
  // An Event about the lost Lease would be a write after the loss.
  const transport: Transport = (request) =>
    lost ? Promise.reject(new Error("the lease was lost")) : deps.transport(request);
  const client = (name: string, limits: { timeoutMs?: number } = {}): Client =>
    new Client({ transport, clock, userAgent: userAgent(build, name), metrics: operations?.requests, ...limits });
  const events = new EventRecorder({
    client: client("kube-controller-manager"),
    clock,
    random,
    component: "kube-controller-manager",
    logger: outage.quietLogger(logger),
    eventLogLevel: "info",
  });
  const stopEvents = new AbortController();
  const recording = events.run(stopEvents.signal);
  await runAsLeader(
    {
      ...leaseOf(options),
      client: client("leader-election", {
        timeoutMs: Math.max(MIN_LEASE_REQUEST_TIMEOUT_MS, options.leaderElectRenewDeadlineMs / 2),
      }),
      clock,
      random,
      identity: `${deps.hostname}_${uuid(random.fork("leader identity"))}`,
      events,
      metrics: operations?.metrics.common.leaderElection,
      logger,
      onElector: (elector) => operations?.health.watchLeader(elector),
      onNewLeader: (leader, own) => {
        if (leader !== "" && leader !== own) operations?.health.setStandingBy();
      },
      onLost: () => (lost = true),
      holdsAfterFailure: true,
    },
    async (leading, elector) => {
      const fence = (unfenced: Transport): Transport => leaderFence(unfenced, () => elector.mayActAsLeader);
      await ensureNoShardMembers(deps, leading);
      await runControllers({ deps, fence, outage }, leading);
      if (!leading.aborted) throw new Error("every controller stopped by itself");
    },
    signal,
  );
  stopEvents.abort();
  await recording;
}

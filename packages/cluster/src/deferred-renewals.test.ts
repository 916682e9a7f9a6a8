import { leases } from "@kubewright/api";
import { SimulatedClock, seededRandom, silentLogger } from "@kubewright/clock";
import { expect, onTestFinished, test } from "vitest";

import { createFaultyCluster } from "./faulty-cluster.js";

const LEADER = "controller-manager-1";
const STANDBY = "controller-manager-2";
const HOUR_MS = 3_600_000;

/** Starts a cluster of two controller managers, of which one is down and the other has led for an hour. */
async function lonelyLeader() {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const cluster = createFaultyCluster({
    clock,
    random: seededRandom(1),
    replicas: 2,
    freeze: true,
    logger: silentLogger,
  });
  const stop = new AbortController();
  const running = cluster.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await clock.advance(60_000);
    await running;
  });
  await clock.settle();
  await cluster.ready();
  cluster.faults.controllerDown(STANDBY);
  let leaseWrites = 0;
  cluster.apiServer.observe(({ resource, verb }) => {
    if (resource === "leases" && verb === "update") leaseWrites++;
  });
  await clock.advance(HOUR_MS + 500);
  const renewTime = async (): Promise<string | undefined> => {
    const lease = await cluster
      .client("test")
      .resource(leases)
      .get("kube-controller-manager", { namespace: "kube-system" });
    return lease.spec?.renewTime;
  };
  return { clock, cluster, leaseWrites: () => leaseWrites, renewTime };
}

test("a controller manager without a rival defers its renewals", async () => {
  const { cluster, leaseWrites, renewTime } = await lonelyLeader();
  expect(cluster.leaders()).toEqual([LEADER]);
  expect(leaseWrites()).toBeLessThan(5);
  expect(await renewTime()).toBe("2026-01-01T01:00:00.000000Z");
});

test("a paused leader renews no more: another candidate takes over after the lease duration", async () => {
  const { clock, cluster, renewTime } = await lonelyLeader();
  await clock.advance(3_000);
  const resume = cluster.faults.pause(LEADER);
  cluster.faults.controllerUp(STANDBY);
  await clock.advance(10_000);
  expect(await renewTime()).toBe("2026-01-01T01:00:02.000000Z");
  expect(cluster.leaders()).toEqual([]);
  await clock.advance(10_000);
  expect(cluster.leaders()).toEqual([STANDBY]);
  resume();
});

test("a killed leader leaves the Lease as its last renewal wrote it", async () => {
  const { clock, cluster, renewTime } = await lonelyLeader();
  cluster.faults.controllerDown(LEADER);
  await clock.advance(HOUR_MS);
  expect(await renewTime()).toBe("2026-01-01T01:00:00.000000Z");
});

test("a jump of the leader's clock affects only later renewals", async () => {
  const { clock, cluster, renewTime } = await lonelyLeader();
  cluster.faults.jumpClockOf(LEADER, 24 * HOUR_MS);
  expect(await renewTime()).toBe("2026-01-01T01:00:00.000000Z");
  await clock.advance(2_000);
  expect(await renewTime()).toBe("2026-01-02T01:00:02.000000Z");
});

test("a leader that loses its Lease stops although nothing observed it before", async () => {
  const { clock, cluster } = await lonelyLeader();
  cluster.faults.loseLease(LEADER);
  await clock.advance(11_000);
  expect(cluster.leaders()).toEqual([]);
});

import { leases } from "@kubewright/api";
import { type Transport } from "@kubewright/transport";
import { expect, test } from "vitest";

import { backups } from "../test/backups.js";
import { place, startServer } from "../test/operator-harness.js";
import { createOperator } from "./index.js";

/** An operator that writes into the status of every Backup that it was reconciled. */
function observer() {
  const operator = createOperator({ name: "observer" });
  operator.controllerFor(backups).reconcile(async ({ object, client, signal }) => {
    signal.throwIfAborted();
    await client.patchStatus(backups, object, { phase: "Seen" });
  });
  return operator;
}

test("of two replicas one acts, the other has its caches filled, and takes over as soon as the first has stopped", async () => {
  const { clock, client, run, createBackup, get } = await startServer();
  const operator = observer();
  const first = run(operator, { identity: "first" });
  await clock.advance(1_000);
  const second = run(operator, { identity: "second" });
  await clock.advance(10_000);
  expect((await get(leases, "observer")).spec?.holderIdentity).toBe("first");
  expect((await second.health.readyz.report("readyz")).status).toBe(200);
  await createBackup("nightly");
  await clock.advance(10_000);
  expect(second.writes().filter((write) => write.includes("backups"))).toEqual([]);
  expect(first.writes()).toContain("PATCH /apis/example.com/v1/namespaces/default/backups/nightly/status");
  const requestsBefore = second.requests.length;
  expect(await first.metric("leader_election_master_status")).toEqual([
    'leader_election_master_status{name="observer"} 1',
  ]);
  first.stopping.abort();
  await clock.advance(100);
  expect(await first.running).toBe("stopped");
  expect((await get(leases, "observer")).spec?.holderIdentity).toBe("second");
  await client
    .resource(backups)
    .patch("nightly", { type: "merge", body: { status: null } }, { ...place, subresource: "status" });
  await clock.advance(1_000);
  expect((await get(backups, "nightly")).status?.phase).toBe("Seen");
  // The caches were filled before: no list was sent.
  const lists = second.requests
    .slice(requestsBefore)
    .filter(({ method, path }) => method === "GET" && path.includes("backups"));
  expect(lists).toEqual([]);
  expect(await second.stop()).toBe("stopped");
  expect(clock.keepAliveCount).toBe(0);
});

test("a process that lost the Lease writes nothing more, and reports that", async () => {
  const { clock, server, run, createBackup, get } = await startServer();
  const operator = createOperator({ name: "observer" });
  const outcomes: string[] = [];
  operator.controllerFor(backups).reconcile(async ({ object, client, clock }) => {
    // Paused for longer than the lease duration.
    await clock.sleep(30_000);
    await client.patchStatus(backups, object, { phase: "Late" }).then(
      () => outcomes.push("written"),
      (error: Error) => outcomes.push(`${error.name}: ${error.message}`),
    );
  });
  let isCut = false;
  const transport: Transport = (request) =>
    isCut && request.path.includes("leases") ? Promise.reject(new Error("cut")) : server.transport(request);
  const { running } = run(operator, { transport });
  await createBackup("nightly");
  await clock.advance(5_000);
  isCut = true;
  await clock.advance(120_000);
  expect(outcomes).toEqual([
    "NotLeaderError: PATCH /apis/example.com/v1/namespaces/default/backups/nightly/status?fieldManager=observer not sent: the lease was not renewed in time",
  ]);
  expect(await running).toBe("failed to renew lease default/observer: timed out waiting for the condition");
  expect((await get(backups, "nightly")).status).toBeUndefined();
});

test("the Lease is named, placed and timed as the operator says, or not there at all", async () => {
  const { clock, client, run } = await startServer();
  const operator = createOperator({
    name: "observer",
    leaderElection: { leaseName: "watch-tower", namespace: "kube-system", leaseDurationMs: 30_000 },
  });
  const one = run(operator, { namespace: "elsewhere" });
  await clock.advance(1_000);
  const { items } = await client.resource(leases).list();
  expect(items.map(({ metadata, spec }) => [metadata.namespace, metadata.name, spec?.leaseDurationSeconds])).toEqual([
    ["kube-system", "watch-tower", 30],
  ]);
  await one.stop();
  const other = run(createOperator({ name: "alone", leaderElection: false }));
  await clock.advance(1_000);
  expect(other.requests.some(({ path }) => path.includes("leases"))).toBe(false);
  await other.stop();
});

test("caches that are not filled in time end it, with what is in the way", async () => {
  const { clock, client, run } = await startServer();
  const { customResourceDefinitions } = await import("@kubewright/api");
  await client.resource(customResourceDefinitions).delete("backups.example.com");
  await clock.advance(5_000);
  const { running, health } = run(observer());
  await clock.advance(60_000);
  expect((await health.readyz.report("readyz")).body).toContain("[-]informer-sync failed");
  await clock.advance(70_000);
  expect(await running).toMatch(
    /^the cache of backups\.example\.com was not filled within 120 s: .*the server could not find the requested resource/,
  );
  expect(clock.keepAliveCount).toBe(0);
});

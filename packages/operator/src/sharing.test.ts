import { leases, namespaces } from "@kubewright/api";
import { expect, test } from "vitest";

import { backups } from "../test/backups.js";
import { startServer } from "../test/operator-harness.js";
import { createOperator } from "./index.js";

const NAMESPACES = Array.from({ length: 30 }, (_, index) => `team-${index}`);

/** Writes into the status of every Backup that it was reconciled. */
function observer() {
  const operator = createOperator({ name: "observer", sharding: "namespaces" });
  operator.controllerFor(backups).reconcile(async ({ object, client }) => {
    await client.patchStatus(backups, object, { phase: "Seen" });
  });
  return operator;
}

const namespacesIn = (writes: readonly string[]): Set<string> =>
  new Set(writes.filter((write) => write.includes("/backups/")).map((write) => write.split("/")[5]!));

test("with sharding all replicas act, each for namespaces of its own, and one that stops leaves its own to the others", async () => {
  const { clock, client, run, createBackup } = await startServer();
  for (const name of NAMESPACES) await client.resource(namespaces).create({ metadata: { name } });
  const [first, second] = [run(observer(), { identity: "first" }), run(observer(), { identity: "second" })];
  await clock.advance(60_000);
  expect((await second.health.readyz.report("readyz")).status).toBe(200);
  for (const namespace of NAMESPACES) await createBackup("nightly", {}, { namespace });
  await clock.advance(5_000);
  const phases = async () => (await client.resource(backups).list()).items.map(({ status }) => status?.phase);
  expect(new Set(await phases())).toEqual(new Set(["Seen"]));
  const [ofFirst, ofSecond] = [namespacesIn(first.writes()), namespacesIn(second.writes())];
  expect(ofFirst.size + ofSecond.size).toBe(NAMESPACES.length);
  expect(new Set([...ofFirst, ...ofSecond]).size).toBe(NAMESPACES.length);
  expect(Math.min(ofFirst.size, ofSecond.size)).toBeGreaterThan(5);
  const owned = await Promise.all([first, second].map(({ metric }) => metric("kubewright_shard_bucket_owner{")));
  expect(owned.flat().filter((line) => line.endsWith(" 1"))).toHaveLength(65);
  expect(await second.metric("kubewright_shard_members")).toEqual(["kubewright_shard_members 2"]);
  expect(await second.metric("kubewright_shard_foreign_events_total")).not.toEqual([]);
  expect(await first.stop()).toBe("stopped");
  for (const namespace of NAMESPACES) await createBackup("weekly", {}, { namespace });
  await clock.advance(5_000);
  expect(new Set(await phases())).toEqual(new Set(["Seen"]));
  expect(await second.stop()).toBe("stopped");
  expect((await client.resource(leases).list({ namespace: "default" })).items).toEqual([]);
  expect(clock.keepAliveCount).toBe(0);
});

test("what is in no namespace is one replica's", async () => {
  const { clock, client, run } = await startServer();
  const seen: string[] = [];
  const tower = (replica: string) => {
    const operator = createOperator({ name: "tower", sharding: "namespaces" });
    operator.controllerFor(namespaces).reconcile(({ name }) => {
      seen.push(`${replica} ${name}`);
      return Promise.resolve();
    });
    return operator;
  };
  const replicas = [run(tower("a"), { identity: "a" }), run(tower("b"), { identity: "b" })];
  await clock.advance(60_000);
  await client.resource(namespaces).create({ metadata: { name: "new" } });
  await clock.advance(5_000);
  expect(seen.filter((line) => line.endsWith(" new"))).toHaveLength(1);
  for (const replica of replicas) expect(await replica.stop()).toBe("stopped");
});

test("sharding and a choice of namespaces do not go together", async () => {
  const { run } = await startServer();
  const operator = createOperator({ name: "observer", sharding: "namespaces", namespaces: ["a"] });
  expect(await run(operator).running).toBe("observer shares all namespaces: it cannot be restricted to a");
});

import { customResourceDefinitions, events, jobs, pods } from "@kubewright/api";
import { SimulatedClock, seededRandom, silentLogger } from "@kubewright/clock";
import { createCluster } from "@kubewright/cluster";
import { Registry } from "prom-client";
import { expect, test } from "vitest";

import { type Backup, backupDefinition, backups } from "./backup.ts";
import { backupOperator } from "./backup-operator.ts";

const place = { namespace: "default" };

/** The operator in a whole cluster, in virtual time: Job controller, garbage collector, scheduler and kubelet included. */
async function start() {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const cluster = createCluster({ clock, random: seededRandom(1), freeze: true });
  const [client, registry, { signal }] = [cluster.client("test"), new Registry(), new AbortController()];
  void cluster.run(signal);
  await client.resource(customResourceDefinitions).create(backupDefinition);
  const { transport } = cluster.apiServer;
  void backupOperator.run({ transport, clock, random: seededRandom(2), signal, registry, logger: silentLogger });
  await clock.advance(5_000);
  const create = async (spec: Partial<Backup["spec"]> = {}) => {
    await client
      .resource(backups)
      .create({ metadata: { name: "nightly", ...place }, spec: { volume: "data", image: "copy:1", ...spec } });
    await clock.advance("deadlineSeconds" in spec ? 60_000 : 30 * 60_000);
  };
  const get = () => client.resource(backups).get("nightly", place);
  const told = async () =>
    (await client.resource(events).list(place)).items
      .filter(({ involvedObject }) => involvedObject.kind === "Backup")
      .map(({ reason, message }) => `${reason}: ${message}`);
  return { clock, client, registry, create, get, told };
}

test("a Backup gets a Job, which tells in the Backup's conditions, events and metrics how it went", async () => {
  const { create, get, told, registry } = await start();
  await create();
  const { status } = await get();
  expect(status).toMatchObject({
    job: "nightly-copy",
    conditions: [{ type: "Complete", status: "True", observedGeneration: 1 }],
  });
  expect(await told()).toEqual(["Started: Created Job nightly-copy", "Complete: Job nightly-copy has copied data"]);
  expect(await registry.metrics()).toContain('backups_ended_total{result="Complete"} 1');
});

test("a Backup that takes too long has failed, and says why", async () => {
  const { create, get } = await start();
  await create({ deadlineSeconds: 1 });
  expect((await get()).status).toMatchObject({ conditions: [{ status: "False", reason: "DeadlineExceeded" }] });
});

test("a Backup stays until its copy is taken away, and then its Jobs and pods go with it", async () => {
  const { clock, client, create, get } = await start();
  await create();
  await client.resource(backups).delete("nightly", place);
  await clock.advance(100);
  expect((await get()).metadata.finalizers).toEqual(["example.com/copy"]);
  await clock.advance(30 * 60_000);
  for (const gone of [backups, jobs, pods])
    expect((await client.resource<{ metadata: object }>(gone).list(place)).items).toEqual([]);
});

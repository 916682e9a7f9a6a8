import { customResourceDefinitions, events, jobs, pods } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { listen } from "@kubewright/apiserver/http";
import { Client } from "@kubewright/client";
import { type Logger, SimulatedClock, realClock, realRandom, seededRandom, silentLogger } from "@kubewright/clock";
import { createCluster } from "@kubewright/cluster";
import { createHttpTransport } from "@kubewright/transport-http";
import { expect, test } from "vitest";

import { type Backup, backupDefinition, backups } from "./backup.ts";
import { backupController } from "./backup-controller.ts";

const place = { namespace: "default" };

/** The controller in a whole cluster, in virtual time: Job controller, garbage collector, scheduler and kubelet included. */
async function start() {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const cluster = createCluster({ clock, random: seededRandom(1), freeze: true });
  const client = cluster.client("test");
  const stop = new AbortController();
  const surroundings = cluster.run(stop.signal);
  await client.resource(customResourceDefinitions).create(backupDefinition);
  await clock.advance(5_000);
  const errors: unknown[] = [];
  const logger: Logger = { ...silentLogger, error: (fields) => void errors.push(fields) };
  const deps = { client: cluster.client("backup-controller"), clock, random: seededRandom(2), logger };
  const running = Promise.all([surroundings, backupController(deps).run(stop.signal)]);
  const create = (name: string, spec: Partial<Backup["spec"]> = {}) =>
    client
      .resource(backups)
      .create({ metadata: { name, ...place }, spec: { volume: "data", image: "copy:1", ...spec } });
  const statusOf = async (name: string) => (await client.resource(backups).get(name, place)).status;
  const end = async (): Promise<void> => {
    stop.abort();
    await clock.advance(1_000);
    await running;
    expect(clock.holds).toBe(0);
  };
  return { clock, client, errors, create, statusOf, end };
}

test("a Backup gets a Job of its own, and tells how it goes", async () => {
  const { clock, client, create, statusOf, end } = await start();
  await create("nightly");
  await clock.advance(1_000);
  expect(await statusOf("nightly")).toEqual({ phase: "Running", job: "nightly" });
  await clock.advance(30 * 60_000);
  expect(await statusOf("nightly")).toEqual({ phase: "Complete", job: "nightly" });
  const { items } = await client.resource(events).list(place);
  const told = items.filter(({ source }) => source?.component === "backup-controller");
  expect(told.map(({ reason, message }) => `${reason} ${message}`)).toEqual([
    "Started Created Job default/nightly",
    "Complete Job default/nightly has ended",
  ]);
  await end();
});

test("a Backup that takes too long has failed, and its Job is not made again when it is tidied up", async () => {
  const { clock, client, create, statusOf, end } = await start();
  await create("hasty", { deadlineSeconds: 1 });
  await clock.advance(60_000);
  expect(await statusOf("hasty")).toMatchObject({ phase: "Failed" });
  await client.resource(jobs).delete("hasty", { ...place, propagationPolicy: "Background" });
  await clock.advance(60_000);
  expect((await client.resource(jobs).list(place)).items).toEqual([]);
  await end();
});

test("a Job that is deleted while it runs is made again, and a Backup's Job and pods go with it", async () => {
  const { clock, client, create, end } = await start();
  const { metadata } = await create("nightly");
  await clock.advance(1_000);
  const first = await client.resource(jobs).get("nightly", place);
  await client.resource(jobs).delete("nightly", { ...place, propagationPolicy: "Background" });
  await clock.advance(1_000);
  const second = await client.resource(jobs).get("nightly", place);
  expect(second.metadata.uid).not.toBe(first.metadata.uid);
  expect(second.metadata.ownerReferences).toMatchObject([{ kind: "Backup", uid: metadata.uid, controller: true }]);
  await client.resource(backups).delete("nightly", { ...place, propagationPolicy: "Background" });
  await clock.advance(60_000);
  expect((await client.resource(jobs).list(place)).items).toEqual([]);
  expect((await client.resource(pods).list(place)).items).toEqual([]);
  await end();
});

test("a stranger's Job of that name is left alone", async () => {
  const { clock, client, errors, create, statusOf, end } = await start();
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "x" }] } };
  await client.resource(jobs).create({ metadata: { name: "taken", ...place }, spec: { template } });
  await create("taken");
  await clock.advance(60_000);
  expect(await statusOf("taken")).toBeUndefined();
  expect((await client.resource(jobs).get("taken", place)).metadata.ownerReferences ?? []).toEqual([]);
  expect(errors).toMatchObject([{ err: "Job default/taken is there already, and not the Backup's", willRetry: false }]);
  await end();
});

test("the same source runs over HTTP, in real time", async () => {
  const server = createApiServer({ clock: realClock, random: realRandom });
  const { url } = await listen(server);
  const { transport, close } = createHttpTransport({ server: url });
  const client = new Client({ transport, clock: realClock });
  await client.resource(customResourceDefinitions).create(backupDefinition);
  const stop = new AbortController();
  const deps = { client, clock: realClock, random: realRandom, logger: silentLogger };
  const running = backupController(deps).run(stop.signal);
  const spec = { volume: "data", image: "copy:1" };
  await expect
    .poll(() => client.resource(backups).create({ metadata: { name: "now", ...place }, spec }), { timeout: 10_000 })
    .toBeDefined();
  await expect
    .poll(async () => (await client.resource(backups).get("now", place)).status?.phase, { timeout: 10_000 })
    .toBe("Running");
  expect((await client.resource(jobs).get("now", place)).metadata.ownerReferences).toMatchObject([{ name: "now" }]);
  stop.abort();
  await running;
  await close();
  await server.close();
});

import { jobs } from "@kubewright/api";
import { expect, test } from "vitest";

import "../src/vitest.js";
import { isWrite, requestText } from "../src/index.js";
import { backupController, backups, clusterWithBackups, createBackup } from "./backups.js";

async function start() {
  const cluster = await clusterWithBackups();
  const controller = await cluster.run(backupController, { name: "backups" });
  const writes = (): string[] =>
    controller.requests.filter(isWrite).map((record) => `${requestText(record)}: ${record.code ?? "none"}`);
  return { cluster, controller, writes, [Symbol.asyncDispose]: () => cluster.stop() };
}

test("requests that match a rule are refused as often as it allows, and others are not", async () => {
  await using started = await start();
  const { cluster, writes } = started;
  const fault = cluster.faults.refuse({
    by: "backups",
    verb: "create",
    resource: jobs,
    name: "a",
    times: 2,
    status: 503,
  });
  cluster.faults.refuse({ by: "others", status: 500 });
  const a = await createBackup(cluster, "a");
  const b = await createBackup(cluster, "b");
  await cluster.eventually(() => expect(a).toOwn(jobs, 1), { within: "1s" });
  await cluster.eventually(() => expect(b).toOwn(jobs, 1), { within: "1s" });
  expect(writes().filter((text) => text.startsWith("create"))).toEqual([
    "create jobs.batch default/a: 503",
    "create jobs.batch default/b: 201",
    "create jobs.batch default/a: 503",
    "create jobs.batch default/a: 201",
  ]);
  expect(fault.count).toBe(2);
});

test("a refusal names the refused request, and ends when the fault is ended", async () => {
  await using started = await start();
  const { cluster, controller } = started;
  const rule = { verb: "patch", resource: backups, subresource: "status", status: 409 } as const;
  const fault = cluster.faults.refuse(rule);
  const a = await createBackup(cluster, "a");
  await cluster.advance("1s");
  expect((await a.get()) as object).not.toHaveProperty("status");
  expect(controller.errors[0]?.fields).toMatchObject({
    err: "the test refuses to patch backups.example.com/status default/a",
  });
  fault.end();
  await cluster.eventually(() => expect(a).toHaveEvent({ reason: "Complete" }), { within: "1m" });
  expect(() => cluster.faults.refuse({ times: 0, status: 500 })).toThrow("times must be positive, not 0");
});

test("a request that is delayed arrives in virtual time", async () => {
  await using started = await start();
  const { cluster } = started;
  cluster.faults.delay({ by: "backups", verb: "create", resource: "jobs", for: "5m", times: 1 });
  const a = await createBackup(cluster, "a");
  await cluster.advance("4m59s");
  await expect(a).toOwn(jobs, 0);
  await cluster.advance("1s");
  await expect(a).toOwn(jobs, 1);
});

test("an action just before a request makes the sender's data stale", async () => {
  await using started = await start();
  const { cluster, writes } = started;
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
  const create = () => cluster.create(jobs, { metadata: { name: "a" }, spec: { template } });
  const race = cluster.faults.before({ by: "backups", verb: "create", resource: jobs }, create);
  const a = await createBackup(cluster, "a");
  await cluster.advance("1m");
  await expect(a).toOwn(jobs, 0);
  expect(race.count).toBe(1);
  expect(writes()).toEqual(["create jobs.batch default/a: 409"]);
});

test("when a response is lost, the server has executed the request, and the controller has to discover that", async () => {
  await using started = await start();
  const { cluster, writes } = started;
  cluster.faults.loseAnswers({ by: "backups", verb: "create", resource: jobs, times: 1 });
  const a = await createBackup(cluster, "a");
  await cluster.eventually(() => expect(a).toHaveEvent({ reason: "Complete" }));
  expect(writes().filter((text) => text.startsWith("create"))).toEqual(["create jobs.batch default/a: none"]);
});

test("a cache whose watches are held is stale until the fault ends", async () => {
  await using started = await start();
  const { cluster, writes } = started;
  const held = cluster.faults.holdWatches({ by: "backups", resource: jobs });
  const a = await createBackup(cluster, "a");
  await cluster.advance("10m");
  await expect(cluster.object(jobs, "a")).toHaveCondition("Complete");
  expect((await a.get()) as object).toMatchObject({ status: { phase: "Running" } });
  held.end();
  await cluster.eventually(() => expect(a).toHaveEvent({ reason: "Complete" }), { within: "1s" });
  const [first, ...again] = writes().filter((text) => text.startsWith("create jobs"));
  expect(first).toBe("create jobs.batch default/a: 201");
  expect(new Set(again)).toEqual(new Set(["create jobs.batch default/a: 409"]));
});

test("closed watches are reopened, and a disconnected controller reconnects", async () => {
  await using started = await start();
  const { cluster } = started;
  expect(cluster.faults.cutWatches({ by: "backups", resource: backups })).toBe(1);
  await cluster.advance("1m");
  const a = await createBackup(cluster, "a");
  await cluster.eventually(() => expect(a).toOwn(jobs, 1), { within: "1m" });
  {
    using _away = cluster.faults.disconnect({ by: "backups" });
    await createBackup(cluster, "b");
    await cluster.advance("1m");
    await expect(cluster.object(backups, "b")).toOwn(jobs, 0);
  }
  await cluster.eventually(() => expect(cluster.object(backups, "b")).toOwn(jobs, 1), { within: "5m" });
});

test("faults apply to Kubernetes' controllers by their names, in process", async () => {
  await using started = await start();
  const { cluster } = started;
  cluster.faults.refuse({ by: "job-controller", verb: "create", resource: "pods", times: 3, status: 429 });
  const a = await createBackup(cluster, "a");
  await cluster.eventually(() => expect(cluster.object(jobs, "a")).toHaveEvent({ reason: "FailedCreate" }));
  await cluster.eventually(() => expect(a).toHaveEvent({ reason: "Complete" }));
});

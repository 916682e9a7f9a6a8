import { configMaps, jobs } from "@kubewright/api";
import { expect, test } from "vitest";

import "../src/vitest.js";
import {
  type ControllerFactory,
  NotInTimeError,
  checkEvent,
  isWrite,
  requestText,
  startTestCluster,
} from "../src/index.js";
import { backupController, clusterWithBackups, createBackup } from "./backups.js";

test("time is paused until the test advances it, and then all due work is done", async () => {
  await using cluster = await startTestCluster({ start: "2030-01-01T00:00:00Z" });
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
  const pi = await cluster.create(jobs, { metadata: { name: "pi" }, spec: { template } });
  await expect(pi).not.toHaveCondition("Complete");
  await cluster.advance("1m30s");
  await expect(pi).toHaveCondition("Complete");
  expect(cluster.now.toISOString()).toBe("2030-01-01T00:01:30.000Z");
  await expect(cluster.advance("soon")).rejects.toThrow('advance: "soon" is not a duration; write for example "10m"');
});

test("eventually resolves with the value at the first time at which the condition holds", async () => {
  await using cluster = await clusterWithBackups({ kubelet: "none" });
  await cluster.run(backupController);
  const began = cluster.clock.monotonic();
  const nightly = await createBackup(cluster, "nightly");
  const [job] = await cluster.eventually(async () => {
    const owned = await nightly.owned(jobs);
    return owned.length > 0 && owned;
  });
  expect(job?.metadata.name).toBe("nightly");
  expect(cluster.clock.monotonic()).toBe(began);
});

test("an unmet condition fails with its last reason, the waiting time and the related objects", async () => {
  await using cluster = await clusterWithBackups({ kubelet: "none" });
  await cluster.run(backupController);
  const nightly = await createBackup(cluster, "nightly");
  await (await createBackup(cluster, "other")).get();
  const failing = cluster.eventually(() => checkEvent(nightly, { reason: "Complete" }), { within: "10m" });
  const error: unknown = await failing.catch((error: unknown) => error);
  expect(error).toBeInstanceOf(NotInTimeError);
  const { message } = error as Error;
  expect(message).toContain(
    'expected Backup default/nightly to have an event with reason "Complete"; its events: Normal Started: Created Job default/nightly (backup-controller)',
  );
  expect(message).toMatch(
    /That was so within 10m of virtual time \(now 2026-01-01T00:10:00\.000Z, looked \d+ times\)\./,
  );
  expect(message).not.toContain("other");
  await expect(
    cluster.eventually(async () => (await nightly.get()).metadata.name === "other", { within: "1s" }),
  ).rejects.toThrow(/is false[^]*Backup default\/nightly: status \{"phase":"Running"[^]*Normal Started: Created Job/);
});

test("a failed check of a missing object lists its siblings", async () => {
  await using cluster = await clusterWithBackups();
  await createBackup(cluster, "weekly");
  const absent = cluster.object(configMaps, "absent");
  await expect(cluster.eventually(() => expect(absent).toHaveFinalizer("a/b"), { within: "1s" })).rejects.toThrow(
    "expected ConfigMap default/absent to have the finalizer a/b, but it does not exist; others of its kind: none",
  );
});

test("the error of a failed controller is thrown once: by the next advance, or else by the stop of the cluster", async () => {
  const failing: ControllerFactory = ({ clock }) => ({
    name: "failing",
    run: async (signal) => {
      await clock.sleep(60_000, signal);
      throw new Error("no more");
    },
  });
  const cluster = await startTestCluster();
  await cluster.run(failing);
  await expect(cluster.advance("2m")).rejects.toThrow("failing failed: no more");
  await cluster.advance("2m");
  await cluster.run(failing, { name: "again" });
  await cluster.embedded?.ready();
  const second = cluster.eventually(() => false, { within: "2m" });
  await expect(second).rejects.toThrow("again failed: no more");
  await cluster.stop();
});

test("a stopped controller finishes its work, a killed one stops immediately, and both can be started again", async () => {
  await using cluster = await clusterWithBackups();
  const first = await cluster.run(backupController);
  await expect(cluster.run(backupController)).rejects.toThrow("backupController is already running");
  await first.stop();
  const nightly = await createBackup(cluster, "nightly");
  await cluster.advance("1m");
  await expect(nightly).toOwn(jobs, 0);
  cluster.faults.delay({ by: "backupController", verb: "create", resource: jobs, for: "10s" });
  const second = await cluster.run(backupController);
  await cluster.advance("1s");
  await second.kill();
  await cluster.advance("1m");
  await expect(nightly).toOwn(jobs, 0);
  const third = await cluster.run(backupController, { name: "third" });
  await cluster.eventually(() => expect(nightly).toOwn(jobs, 1));
  const writes = third.requests.filter(isWrite).map((record) => [requestText(record), record.code]);
  expect(writes[0]).toEqual(["create jobs.batch default/nightly", 201]);
  expect([first.alive, second.alive, third.alive]).toEqual([false, false, true]);
});

test("a controller that does not stop is named", async () => {
  const cluster = await startTestCluster({ kubelet: "none", controllers: [] });
  const deaf = await cluster.run({ name: "deaf", run: () => new Promise(() => {}) });
  await expect(deaf.stop()).rejects.toThrow("deaf did not stop within 120 s");
  await deaf.kill().catch(() => {});
  await cluster.stop();
});

test("a stopped cluster leaves no work and no timer that keeps a process alive", async () => {
  const cluster = await clusterWithBackups();
  await cluster.run(backupController);
  await cluster.advance("1h");
  const { clock } = cluster;
  await cluster.stop();
  await cluster.stop();
  expect(clock).toMatchObject({ keepAliveCount: 0 });
});

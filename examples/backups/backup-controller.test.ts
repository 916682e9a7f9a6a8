import { jobs, pods } from "@kubewright/api";
import { startTestCluster } from "@kubewright/testing";
import "@kubewright/testing/vitest";
import { expect, onTestFinished, test } from "vitest";

import { type Backup, backupDefinition, backups } from "./backup.ts";
import { backupController } from "./backup-controller.ts";

/**
 * Runs the controller in a whole cluster, in virtual time: with Job controller, garbage collector, scheduler and
 * kubelet.
 */
async function start() {
  const cluster = await startTestCluster({ crds: [backupDefinition] });
  onTestFinished(() => cluster.stop());
  const controller = await cluster.run(backupController);
  const create = (name: string, spec: Partial<Backup["spec"]> = {}) =>
    cluster.create(backups, { metadata: { name }, spec: { volume: "data", image: "copy:1", ...spec } });
  return { cluster, controller, create };
}

test("a Backup gets a Job, and its status follows the Job", async () => {
  const { cluster, create } = await start();
  const nightly = await create("nightly");
  await cluster.eventually(() => expect(nightly).toOwn(jobs, 1), { within: "1s" });
  await cluster.eventually(() => expect(nightly).toHaveEvent({ reason: "Complete", message: /Job default\/nightly/ }));
  expect((await nightly.get()).status).toEqual({ phase: "Complete", job: "nightly" });
  await expect(nightly).toHaveEvent({ type: "Normal", reason: "Started", component: "backup-controller" });
});

test("a Backup past its deadline fails, and its Job is not recreated after its deletion", async () => {
  const { cluster, create } = await start();
  const hasty = await create("hasty", { deadlineSeconds: 1 });
  await cluster.eventually(async () => expect(await hasty.get()).toMatchObject({ status: { phase: "Failed" } }));
  await cluster.object(jobs, "hasty").delete();
  await cluster.advance("1m");
  await expect(hasty).toOwn(jobs, 0);
});

test("a Job that is deleted while it runs is recreated, and a Backup's Job and pods are deleted with it", async () => {
  const { cluster, create } = await start();
  const nightly = await create("nightly");
  const [first] = await cluster.eventually(() => nightly.owned(jobs).then((owned) => owned.length > 0 && owned));
  await cluster.object(jobs, "nightly").delete();
  await cluster.eventually(async () =>
    expect((await nightly.owned(jobs))[0]?.metadata.uid).not.toBe(first?.metadata.uid),
  );
  await nightly.delete();
  await cluster.eventually(() => expect(cluster.object(jobs, "nightly")).toBeGone());
  await cluster.eventually(async () => expect((await cluster.client.resource(pods).list()).items).toEqual([]));
});

test("a Job of that name with another owner is not changed", async () => {
  const { cluster, controller, create } = await start();
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "x" }] } };
  await cluster.create(jobs, { metadata: { name: "taken" }, spec: { template } });
  const taken = await create("taken");
  await cluster.advance("1m");
  expect((await taken.get()).status).toBeUndefined();
  await expect(taken).toOwn(jobs, 0);
  expect(controller.errors).toMatchObject([{ fields: { err: /^Job default\/taken is there/, willRetry: false } }]);
});

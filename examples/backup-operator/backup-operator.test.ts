import { jobs, pods, validatingWebhookConfigurations } from "@kubewright/api";
import { webhookConfigurations, webhooksInProcess } from "@kubewright/operator/webhooks";
import { startTestCluster } from "@kubewright/testing";
import "@kubewright/testing/vitest";
import { Registry } from "prom-client";
import { expect, test } from "vitest";

import { type Backup, backups } from "./backup.ts";
import { backupOperator, webhooks } from "./backup-operator.ts";

/**
 * Runs the operator in a whole cluster, in virtual time: with Job controller, garbage collector, scheduler and kubelet.
 */
async function start() {
  const cluster = await startTestCluster({ crds: [backups.crd], embedded: { webhooks: webhooksInProcess(webhooks) } });
  const place = { url: "https://webhooks.test" };
  const { validating } = webhookConfigurations({ name: "backup-operator", webhooks, place });
  await cluster.create(validatingWebhookConfigurations, validating!);
  const registry = new Registry();
  const operator = await cluster.run(backupOperator, { environment: { registry } });
  const create = (spec: Partial<Backup["spec"]> = {}) =>
    cluster.create(backups, { metadata: { name: "nightly" }, spec: { volume: "data", image: "copy:1", ...spec } });
  return { cluster, operator, registry, create, [Symbol.asyncDispose]: () => cluster.stop() };
}

test("a Backup gets a Job, and its conditions, events and metrics report the outcome", async () => {
  await using started = await start();
  const { cluster, registry, create } = started;
  const nightly = await create();
  await cluster.eventually(() => expect(nightly).toOwn(jobs, 1), { within: "5s" });
  await cluster.eventually(() => expect(nightly).toHaveCondition("Complete", "True"));
  await expect(nightly).toHaveEvent({ reason: "Complete", message: "Job nightly-copy has copied data" });
  expect(await registry.metrics()).toContain('backups_ended_total{result="Complete"} 1');
});

test("a Backup past its deadline fails with a reason; its volume is immutable", async () => {
  await using started = await start();
  const hasty = await started.create({ deadlineSeconds: 1 });
  const why = { reason: "DeadlineExceeded" };
  await started.cluster.eventually(() => expect(hasty).toHaveCondition("Complete", "False", why));
  await expect(hasty.patch({ spec: { volume: "other" } })).rejects.toThrow("spec.volume may not change");
});

test("a Backup stays until its copy is deleted, and then its Jobs and pods are deleted too", async () => {
  await using started = await start();
  const { cluster, create } = started;
  const nightly = await create();
  await cluster.eventually(() => expect(nightly).toHaveCondition("Complete", "True"));
  await nightly.delete();
  await expect(nightly).toHaveFinalizer("example.com/copy");
  await cluster.eventually(() => expect(nightly).toBeGone());
  await expect(nightly).toHaveEvent({ reason: "Removing", message: "Created Job nightly-remove" });
  await cluster.eventually(async () => expect((await cluster.client.resource(pods).list()).items).toEqual([]));
});

test("when the leader is killed, the second instance continues its work", async () => {
  await using started = await start();
  const { cluster, operator, create } = started;
  await cluster.run(backupOperator, { name: "second" });
  const nightly = await create();
  await cluster.eventually(() => expect(nightly).toHaveEvent({ reason: "Started" }));
  await operator.kill();
  await cluster.eventually(() => expect(nightly).toHaveCondition("Complete", "True"), { within: "1m" });
  await expect(nightly).toOwn(jobs, 1);
});

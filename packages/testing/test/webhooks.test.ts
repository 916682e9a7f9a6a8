import { configMaps, validatingWebhookConfigurations } from "@kubewright/api";
import { createOperator } from "@kubewright/operator";
import { webhookConfigurations } from "@kubewright/operator/webhooks";
import { expect, test } from "vitest";

import { type TestServer, startTestCluster } from "../src/index.js";
import { copies, oldCopies, operator } from "./webhook-operator.js";

/** The test of an operator with webhooks, for all kinds of clusters. */
async function testWebhooks(against: TestServer): Promise<void> {
  await using cluster = await startTestCluster({ against, kubelet: "none", controllers: [] });
  const running = await cluster.run(operator, { webhooks: true });
  const started = cluster.now.getTime();
  await expect(cluster.create(copies, { metadata: { name: "a" }, spec: { volume: "tmp" } })).rejects.toThrow(
    'admission webhook "validate.copies.example.com" denied the request: tmp is not copied',
  );
  const copy = await cluster.create(copies, { metadata: { name: "a" }, spec: { volume: "data" } });
  expect((await copy.get()).spec).toEqual({ volume: "data", keep: 3, owner: "nobody" });
  const old = cluster.object(oldCopies, "a");
  expect((await old.get()).spec).toEqual({ claim: "data" });
  await cluster.eventually(async () => {
    expect((await cluster.object(configMaps, "a").get()).data).toEqual({ owner: "nobody" });
  });
  expect(cluster.now.getTime() - started).toBeLessThan(5_000);
  await running.stop();
  await expect(cluster.create(copies, { metadata: { name: "b" }, spec: { volume: "data" } })).rejects.toThrow(
    /failed calling webhook "mutate\.copies\.example\.com": .*connection refused/,
  );
}

test.each(["in-process", "serve"] as const)(
  "an operator's webhooks are served while it runs, against: %s",
  testWebhooks,
  60_000,
);

test("configurations that the test has installed call the operator's webhooks", async () => {
  await using cluster = await startTestCluster({ kubelet: "none", controllers: [] });
  const service = { name: "copy-operator", namespace: "default" };
  const { validating } = webhookConfigurations({
    name: "copy-operator",
    webhooks: operator.options.webhooks!,
    place: { service },
  });
  await cluster.create(validatingWebhookConfigurations, validating!);
  await cluster.run(operator, { webhooks: true });
  await expect(cluster.create(copies, { metadata: { name: "a" }, spec: { volume: "tmp" } })).rejects.toThrow(
    "tmp is not copied",
  );
});

test("a replica that runs answers for one that has ended", async () => {
  await using cluster = await startTestCluster({ kubelet: "none", controllers: [] });
  const first = await cluster.run(operator, { name: "first", webhooks: true });
  await cluster.run(operator, { name: "second", webhooks: true });
  await first.kill();
  const copy = await cluster.create(copies, { metadata: { name: "a" }, spec: { volume: "data" } });
  expect((await copy.get()).spec.owner).toBe("nobody");
});

test("an operator without webhooks, and a controller, are refused", async () => {
  await using cluster = await startTestCluster({ kubelet: "none", controllers: [] });
  const none = createOperator({ name: "none" });
  await expect(cluster.run(none, { webhooks: true })).rejects.toThrow(
    "none has no webhooks to serve: declare them with createOperator({ webhooks: […] })",
  );
});

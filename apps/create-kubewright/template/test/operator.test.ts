import { configMaps } from "@kubewright/api";
import { startTestCluster } from "@kubewright/testing";
import "@kubewright/testing/vitest";
import { expect, test } from "vitest";

import { greetings } from "../src/greeting.ts";
import { operator } from "../src/operator.ts";

async function start() {
  const cluster = await startTestCluster({ crds: [greetings.crd] });
  const running = await cluster.run(operator);
  return { cluster, running, [Symbol.asyncDispose]: () => cluster.stop() };
}

test("a Greeting gets a ConfigMap with its text, and says that it is ready", async () => {
  await using started = await start();
  const { cluster } = started;
  const world = await cluster.create(greetings, { metadata: { name: "world" }, spec: { to: "world" } });
  await cluster.eventually(() => expect(world).toHaveCondition("Ready"));
  await expect(world).toOwn(configMaps, 1);
  expect((await cluster.object(configMaps, "world").get()).data).toEqual({ text: "Hello world" });
});

test("a deleted object is recreated", async () => {
  await using started = await start();
  const { cluster } = started;
  const world = await cluster.create(greetings, { metadata: { name: "world" }, spec: { to: "world" } });
  await cluster.eventually(() => expect(world).toOwn(configMaps, 1));
  await cluster.object(configMaps, "world").delete();
  await cluster.eventually(() => expect(world).toOwn(configMaps, 1));
});

test("when the leader is killed, the second one goes on", async () => {
  await using started = await start();
  const { cluster, running } = started;
  await cluster.run(operator, { name: "second" });
  await running.kill();
  const world = await cluster.create(greetings, { metadata: { name: "world" }, spec: { to: "world" } });
  await cluster.eventually(() => expect(world).toHaveCondition("Ready"), { within: "1m" });
});

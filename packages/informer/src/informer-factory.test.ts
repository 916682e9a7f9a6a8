import { jobs, pods } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";

import { leastRandom } from "../test/informer-fixture.js";
import { ScriptedServer, pod } from "../test/scripted-server.js";
import { InformerFactory, type InformerFactoryOptions } from "./informer-factory.js";

function newFactory(options: Partial<InformerFactoryOptions> = {}) {
  const clock = new SimulatedClock();
  const server = new ScriptedServer();
  const client = new Client({ transport: server.transport, clock });
  const factory = new InformerFactory({ client, clock, random: leastRandom, watchList: false, ...options });
  return { clock, server, factory };
}

test("every caller gets the same informer for a resource, which lists and watches once", async () => {
  const { clock, server, factory } = newFactory();
  expect(factory.informerFor(pods)).toBe(factory.informerFor({ ...pods }));
  const controller = new AbortController();
  const stopped = factory.run(controller.signal);
  server.list("10", [pod("a", "7")]);
  await clock.settle();
  expect(server.requests.map(({ verb }) => verb)).toEqual(["list", "watch"]);
  controller.abort();
  await stopped;
  expect(clock.nextTimerInMs).toBeUndefined();
});

test("an informer asked for later starts by itself", async () => {
  const { clock, server, factory } = newFactory();
  const controller = new AbortController();
  const stopped = factory.run(controller.signal);
  const informer = factory.informerFor(jobs);
  const synced = factory.waitForCacheSync();
  server.list("10", []);
  await clock.settle();
  await synced;
  expect(informer.hasSynced).toBe(true);
  expect(server.requests[0]?.path).toBe("/apis/batch/v1/jobs");
  controller.abort();
  await stopped;
});

test("run resolves when every informer has stopped, and there is no second run", async () => {
  const { clock, factory } = newFactory();
  factory.informerFor(pods);
  const controller = new AbortController();
  let ended = false;
  const stopped = factory.run(controller.signal).then(() => (ended = true));
  await clock.settle();
  expect(ended).toBe(false);
  await expect(factory.run(controller.signal)).rejects.toThrow("a factory runs once");
  controller.abort();
  await stopped;
});

test("waiting for the caches ends with the signal of who waits", async () => {
  const { factory } = newFactory();
  factory.informerFor(pods);
  const controller = new AbortController();
  const waiting = factory.waitForCacheSync(controller.signal);
  const reason = new Error("enough");
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
});

test("namespace, transform and resync period are every informer's", async () => {
  const { clock, server, factory } = newFactory({
    namespace: "default",
    resyncMs: 30_000,
    transform: (object) => object,
  });
  const informer = factory.informerFor(pods);
  let resyncs = 0;
  informer.addEventHandler({ onUpdate: () => resyncs++ });
  const controller = new AbortController();
  const stopped = factory.run(controller.signal);
  server.list("10", [pod("a", "7")]);
  await clock.advance(60_000);
  expect(server.requests[0]?.path).toBe("/api/v1/namespaces/default/pods");
  expect(resyncs).toBe(2);
  controller.abort();
  await stopped;
});

test("what one informer draws does not depend on the others", async () => {
  const timeout = async (also: boolean): Promise<unknown> => {
    const { clock, server, factory } = newFactory({ random: seededRandom(7), watchList: true });
    if (also) factory.informerFor(jobs);
    factory.informerFor(pods);
    const controller = new AbortController();
    const stopped = factory.run(controller.signal);
    await clock.settle();
    controller.abort();
    await stopped;
    return server.requests.find(({ path }) => path.endsWith("pods"))?.query["timeoutSeconds"];
  };
  expect(await timeout(true)).toBe(await timeout(false));
});

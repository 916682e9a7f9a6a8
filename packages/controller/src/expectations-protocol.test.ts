import { type ObjectKey, jobs, keyOf, newControllerRef, objectKey, pods } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { ControllerExpectations } from "@kubewright/expectations";
import { InformerFactory } from "@kubewright/informer";
import type { ApiRequest, Transport } from "@kubewright/transport";
import { RateLimitingQueue, defaultControllerRateLimiter } from "@kubewright/workqueue";
import { expect, test } from "vitest";

import { scriptedTransport, refusal } from "../test/scripted-transport.js";
import { discardEvents } from "./event-sink.js";
import { PodControl } from "./pod-control.js";
import { podControllerIndex, podControllerIndexKey, podControllerIndexValues } from "./pod-controller-index.js";
import { ReconcileLoop } from "./reconcile-loop.js";
import { slowStartBatch } from "./slow-start.js";

// Tests the protocol that prevents a controller from acting twice on a lagging cache. A minimal controller keeps
// `parallelism` pods per Job, over a faulty network.

const KEY = objectKey({ namespace: "default", name: "pi" });

async function setUp(parallelism: number, network: (server: Transport, clock: SimulatedClock) => Transport) {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const random = seededRandom(1);
  const server = createApiServer({ clock, random, freeze: true });
  const direct = new Client({ transport: server.transport, clock });
  const client = new Client({ transport: network(server.transport, clock), clock });
  const expectations = new ControllerExpectations({ clock });
  const informers = new InformerFactory({ client, clock, random });
  const [jobInformer, podInformer] = [informers.informerFor(jobs), informers.informerFor(pods)];
  const podStore = podInformer.addIndexers({ [podControllerIndex]: podControllerIndexValues });
  const queue = new RateLimitingQueue<ObjectKey>({ clock, rateLimiter: defaultControllerRateLimiter({ clock }) });
  jobInformer.addEventHandler({ onAdd: (job) => queue.add(keyOf(job)) });
  podInformer.addEventHandler({
    onAdd: () => {
      expectations.creationObserved(KEY);
      queue.add(KEY);
    },
  });
  const podControl = new PodControl({ client, events: discardEvents });
  const failures: string[] = [];
  const loop = new ReconcileLoop({
    name: "replicas",
    queue,
    clock,
    workers: 2,
    waitForSync: (signal) => informers.waitForCacheSync(signal),
    reconcile: async (key, signal) => {
      const job = jobInformer.store.get(key);
      if (job === undefined) return;
      const satisfied = expectations.satisfiedExpectations(key);
      const { namespace = "", name = "", uid = "" } = job.metadata;
      const children = podStore.byIndex(podControllerIndex, podControllerIndexKey(namespace, "Job", name, uid));
      const missing = parallelism - children.length;
      if (!satisfied || missing <= 0) return;
      expectations.expectCreations(key, missing);
      const { attempted, successes, error } = await slowStartBatch(missing, 1, async () => {
        try {
          const controllerRef = newControllerRef(job, { apiVersion: "batch/v1", kind: "Job" });
          const template = { metadata: { labels: { app: "pi" } }, spec: job.spec!.template.spec! };
          await podControl.createPod({ namespace, template, owner: job, ownerDefinition: jobs, controllerRef }, signal);
        } catch (failure) {
          expectations.creationObserved(key);
          throw failure;
        }
      });
      if (error === undefined) return;
      expectations.lowerExpectations(key, missing - attempted, 0);
      const outcome = `${successes} created, ${missing - attempted} never tried`;
      failures.push(`${clock.monotonic()} ms: ${(error as Error).message}, ${outcome}`);
      throw error as Error;
    },
  });
  const stop = new AbortController();
  const done = Promise.all([informers.run(stop.signal), loop.run(stop.signal)]);
  await clock.advance(100);
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "x" }] } };
  await direct.resource(jobs).create({ metadata: { namespace: "default", name: "pi" }, spec: { template } });
  const count = async () => (await direct.resource(pods).list({ namespace: "default" })).items.length;
  const end = async () => {
    stop.abort();
    await clock.advance(10_000);
    await done;
  };
  return { clock, queue, expectations, failures, count, end };
}

const isPodCreate = ({ method, path }: ApiRequest): boolean => method === "POST" && path.endsWith("/pods");

test("a creation that the cache shows before its response arrives is counted once, and nothing is created twice", async () => {
  const { clock, expectations, count, end } = await setUp(1, (server, clock) => async (request) => {
    const response = await server(request);
    if (isPodCreate(request)) await clock.sleep(1_000);
    return response;
  });
  await clock.advance(500);
  // The watch has delivered the pod, but the response has not arrived.
  expect(expectations.getExpectations(KEY)).toMatchObject({ add: 0 });
  expect(expectations.satisfiedExpectations(KEY)).toBe(true);
  await clock.advance(600_000);
  expect(await count()).toBe(1);
  await end();
});

test("a cache that lags behind holds back further creations, however often the key is looked at", async () => {
  const { clock, queue, expectations, count, end } = await setUp(3, (server, clock) => async (request) => {
    const response = await server(request);
    const { body } = response;
    if (body.type !== "events" || !request.path.startsWith("/api/v1/pods")) return response;
    const events = (async function* () {
      for await (const event of body.events) {
        await clock.sleep(20_000);
        yield event;
      }
    })();
    return { ...response, body: { type: "events", events } };
  });
  // The list is late as well: no reconcile starts before it is complete.
  await clock.advance(25_000);
  expect(await count()).toBe(3);
  for (let second = 0; second < 15; second++) {
    queue.add(KEY);
    await clock.advance(1_000);
  }
  expect(expectations.satisfiedExpectations(KEY)).toBe(false);
  await clock.advance(120_000);
  expect(expectations.satisfiedExpectations(KEY)).toBe(true);
  expect(await count()).toBe(3);
  await end();
});

test("a refused creation lowers its expectation, and the key comes back with the rate limiter's delay", async () => {
  let refusals = 2;
  const { clock, failures, expectations, count, end } = await setUp(1, (server) => {
    const { transport } = scriptedTransport(() => refusal(500, "InternalError", "etcd is away"));
    return (request) => (isPodCreate(request) && refusals-- > 0 ? transport(request) : server(request));
  });
  await clock.advance(1_000);
  expect(failures).toEqual([
    "100 ms: etcd is away, 0 created, 0 never tried",
    "105 ms: etcd is away, 0 created, 0 never tried",
  ]);
  expect(await count()).toBe(1);
  expect(expectations.satisfiedExpectations(KEY)).toBe(true);
  await end();
});

test("a slow start that stops lowers what failed and what was never tried", async () => {
  let created = 0;
  const { clock, failures, expectations, count, end } = await setUp(100, (server) => {
    const { transport } = scriptedTransport(() => refusal(403, "Forbidden", "exceeded quota"));
    return (request) => (isPodCreate(request) && ++created === 4 ? transport(request) : server(request));
  });
  await clock.advance(1_000);
  expect(failures).toEqual(["100 ms: exceeded quota, 6 created, 93 never tried"]);
  expect(expectations.getExpectations(KEY)).toMatchObject({ add: 0 });
  // Any remaining expectation would delay the rest by five minutes.
  expect(await count()).toBe(100);
  await end();
});

import { configMaps, pods } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { type Clock, SimulatedClock } from "@kubewright/clock";
import { afterEach, expect, test } from "vitest";

import { leastRandom, startInformer, stopInformers } from "../test/informer-fixture.js";
import { ScriptedServer, added, bookmark, deleted, pod } from "../test/scripted-server.js";
import { InformerFactory } from "./informer-factory.js";
import {
  type InformerLabels,
  type InformerMetrics,
  informerMetricDefinitions,
  versionGauge,
} from "./informer-metrics.js";

afterEach(stopInformers);

function recorder() {
  const seen = { queued: [] as number[], latencies: [] as number[], versions: [] as number[] };
  const metrics: InformerMetrics = {
    setQueuedItems: (items) => seen.queued.push(items),
    observeProcessingLatency: (seconds) => seen.latencies.push(seconds),
    setStoreResourceVersion: (version) => seen.versions.push(version),
  };
  return { seen, metrics };
}

test("every list and event is measured with its handlers, and the store's version follows bookmarks too", async () => {
  const { seen, metrics } = recorder();
  const { server, clock } = startInformer({ metrics });
  server.list("10", [pod("a", "7"), pod("b", "8")]);
  server.watch(added(pod("c", "11")), deleted(pod("a", "12")), bookmark("20"));
  await clock.settle();
  expect(seen).toEqual({ queued: [0], latencies: [0, 0, 0], versions: [10, 11, 12, 20] });
});

test("a handler's time is part of the latency", async () => {
  const { seen, metrics } = recorder();
  const clock = new SimulatedClock();
  let lateMs = 0;
  /** The simulated clock, with a delay for slow handlers. */
  const late: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic() + lateMs,
    setTimer: (delayMs, callback, options) => clock.setTimer(delayMs, callback, options),
    sleep: (delayMs, signal, options) => clock.sleep(delayMs, signal, options),
    yieldToEventLoop: () => clock.yieldToEventLoop(),
    keepAlive: () => clock.keepAlive(),
  };
  const server = new ScriptedServer();
  const factory = new InformerFactory({
    client: new Client({ transport: server.transport, clock: late }),
    clock: late,
    random: leastRandom,
    watchList: false,
    informerName: "tests",
    metrics: { forInformer: () => metrics },
  });
  factory.informerFor(pods).addEventHandler({ onAdd: () => void (lateMs += 250) });
  server.list("10", [pod("a", "7"), pod("b", "8")]);
  const stop = new AbortController();
  const stopped = factory.run(stop.signal);
  await clock.settle();
  expect(seen.latencies).toEqual([0.5]);
  stop.abort();
  await stopped;
});

test("a factory measures its informers under its name, and only if it has one", () => {
  const clock = new SimulatedClock();
  const client = new Client({ transport: new ScriptedServer().transport, clock });
  const asked: InformerLabels[] = [];
  const metrics = {
    forInformer: (labels: InformerLabels) => {
      asked.push(labels);
      return recorder().metrics;
    },
  };
  const named = new InformerFactory({ client, clock, random: leastRandom, informerName: "tests", metrics });
  named.informerFor(pods);
  named.informerFor(pods);
  named.informerFor(configMaps);
  new InformerFactory({ client, clock, random: leastRandom, metrics }).informerFor(pods);
  expect(asked).toEqual([
    { name: "tests", group: "", version: "v1", resource: "pods" },
    { name: "tests", group: "", version: "v1", resource: "configmaps" },
  ]);
  expect(() => new InformerFactory({ client, clock, random: leastRandom, informerName: "" })).toThrow(
    "informer name cannot be empty",
  );
});

test("versions that no number holds are cut to their last 15 digits", () => {
  expect(versionGauge("12345678901234567890")).toBe(678901234567890);
  expect(versionGauge("42")).toBe(42);
  expect(versionGauge("")).toBeNaN();
});

test("names and help texts are upstream's", () => {
  expect(Object.values(informerMetricDefinitions).map(({ name, help }) => [name, help])).toEqual([
    ["informer_queued_items", "Number of items currently queued in the FIFO."],
    ["informer_processing_latency_seconds", "Time taken to process events after popping from the queue."],
    ["informer_store_resource_version", "The 15 least significant digits of the resource version of the store."],
  ]);
});

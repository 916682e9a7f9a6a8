import { type ConfigMap, configMaps, fnv1a64, namespaceShard, shardMatcher } from "@kubewright/api";
import { type ApiServerOptions, createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { afterEach, expect, test } from "vitest";

import { startInformer, stopInformers } from "../test/informer-fixture.js";
import { pod } from "../test/scripted-server.js";
import { InformerFactory } from "./informer-factory.js";
import { SharedInformer, type SharedInformerOptions } from "./shared-informer.js";

afterEach(stopInformers);

const LOWER_HALF = {
  key: "object.metadata.uid",
  ranges: [{ start: { high: 0, low: 0 }, end: { high: 0x80000000, low: 0 } }],
} as const;
const isLower = shardMatcher(LOWER_HALF);

function setUp(server: Partial<ApiServerOptions>, options: Partial<SharedInformerOptions<ConfigMap>> = {}) {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const random = seededRandom(1);
  const apiServer = createApiServer({ clock, random, freeze: true, ...server });
  const client = new Client({ transport: apiServer.transport, clock }).resource(configMaps);
  let foreign: number | undefined;
  const errors: string[] = [];
  const informer = new SharedInformer<ConfigMap>({
    client,
    clock,
    random: random.fork("informer"),
    shard: LOWER_HALF,
    metrics: {
      setQueuedItems: () => {},
      observeProcessingLatency: () => {},
      setStoreResourceVersion: () => {},
      countForeignObjects: (count) => (foreign = (foreign ?? 0) + count),
    },
    onError: (error) => errors.push(error.message),
    ...options,
  });
  const stop = new AbortController();
  const stopped = informer.run(stop.signal);
  return {
    clock,
    apiServer,
    client,
    informer,
    errors,
    foreign: () => foreign,
    stop: async () => {
      stop.abort();
      await stopped;
    },
  };
}

const GATE = { featureGates: { ShardedListAndWatch: true } };

test.each([
  ["that knows shards", GATE, {}, false],
  ["that knows shards, from lists", GATE, { watchList: false }, false],
  ["that knows shards but filters no watches", { ...GATE, watchCache: false }, {}, true],
  ["that does not know shards", {}, {}, true],
  ["that does not know shards, from lists", {}, { watchList: false }, true],
])("a cache of a shard has this and nothing else, of a server %s", async (_, server, options, isForeign) => {
  const { clock, apiServer, client, informer, errors, foreign, stop } = setUp(server, options);
  const notifications: (string | undefined)[] = [];
  informer.addEventHandler({
    onAdd: ({ metadata }) => notifications.push(metadata.name),
    onDelete: (object) => notifications.push(`-${(object as ConfigMap).metadata.name}`),
  });
  const ours: (string | undefined)[] = [];
  const create = async (prefix: string): Promise<void> => {
    for (let index = 0; index < 20; index++) {
      const map = await client.create({ metadata: { name: `${prefix}${index}`, namespace: "default" } });
      if (isLower(map)) ours.push(map.metadata.name);
    }
  };
  await create("before-");
  await clock.settle();
  expect(informer.hasSynced).toBe(true);
  await create("after-");
  await client.create({ metadata: { name: "last", namespace: "default" } }).then((map) => {
    if (isLower(map)) ours.push("last");
  });
  await clock.settle();
  expect(ours.length).toBeGreaterThan(10);
  expect(new Set(informer.store.list().map(({ metadata }) => metadata.name))).toEqual(new Set(ours));
  expect(notifications).toHaveLength(ours.length);
  await client.deleteCollection({ namespace: "default" });
  await clock.settle();
  expect(informer.store.list()).toEqual([]);
  expect(notifications.filter((name) => name?.startsWith("-"))).toHaveLength(ours.length);
  expect(foreign()! > 0).toBe(isForeign);
  expect(errors).toEqual([]);
  // Events of other shards advance the resourceVersion, too.
  const isBehind = informer.store.lastStoreSyncResourceVersion !== apiServer.resourceVersion;
  expect(isForeign && isBehind).toBe(false);
  await stop();
});

test("foreign objects are counted from 0, which distinguishes a filtering server from one that got no request", () => {
  const { foreign } = setUp(GATE);
  expect(foreign()).toBe(0);
});

test("every page, and every watch, is asked for with the selector", async () => {
  const { server, clock, informer } = startInformer({ shard: namespaceShard(["default"]) });
  server.list("10", [pod("a", "7")], { continue: "more" });
  server.list("10", [pod("b", "8")]);
  server.watch();
  await clock.settle();
  expect(informer.store.list()).toHaveLength(2);
  const asked = server.requests.map(({ verb, query }) => [verb, query["shardSelector"]]);
  const { high, low } = fnv1a64("default");
  const point = (offset: number): string => `0x${high.toString(16)}${(low + offset).toString(16).padStart(8, "0")}`;
  const selector = `shardRange(object.metadata.namespace, '${point(0)}', '${point(1)}')`;
  expect(asked.slice(0, 3)).toEqual([
    ["list", selector],
    ["list", selector],
    ["watch", selector],
  ]);
});

test("a factory with a shard shards every informer", async () => {
  const { clock, client, apiServer } = setUp({});
  await client.create({ metadata: { name: "a", namespace: "default" } });
  const factory = new InformerFactory({
    client: new Client({ transport: apiServer.transport, clock }),
    clock,
    random: seededRandom(2),
    shard: namespaceShard(["other"]),
  });
  const informer = factory.informerFor(configMaps);
  const stop = new AbortController();
  const stopped = factory.run(stop.signal);
  await clock.settle();
  expect(informer.hasSynced).toBe(true);
  expect(informer.store.list()).toEqual([]);
  stop.abort();
  await stopped;
});

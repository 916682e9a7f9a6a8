import { type ConfigMap, configMaps, formatShardSelector, namespaceShard } from "@kubewright/api";
import { SimulatedClock } from "@kubewright/clock";
import type { ApiResponse } from "@kubewright/transport";
import { expect, test } from "vitest";

import { Client } from "./client.js";
import { ShardReader } from "./shard-reader.js";

const SHARD = namespaceShard(["ours"]);
const SELECTOR = formatShardSelector(SHARD);

const configMap = (namespace: string, name: string, resourceVersion = "1"): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace, name, resourceVersion },
});

const listed = (items: readonly ConfigMap[], metadata: object = {}): ApiResponse => ({
  status: 200,
  headers: {},
  body: { type: "decoded", value: { kind: "ConfigMapList", metadata: { resourceVersion: "9", ...metadata }, items } },
});

const refusedResponse: ApiResponse = {
  status: 500,
  headers: {},
  body: {
    type: "decoded",
    value: { kind: "Status", status: "Failure", message: "invalid shard selector: no", code: 500 },
  },
};

function watchResponse(events: readonly unknown[]): ApiResponse {
  return {
    status: 200,
    headers: {},
    body: {
      type: "events",
      events: (async function* () {
        yield* events;
      })(),
    },
  };
}

function setUp(...answers: readonly ApiResponse[]) {
  const paths: URLSearchParams[] = [];
  const left = [...answers];
  const client = new Client({
    clock: new SimulatedClock(),
    transport: async ({ path }) => {
      paths.push(new URL(path, "http://server").searchParams);
      return left.shift()!;
    },
  });
  const foreign: number[] = [];
  const errors: string[] = [];
  const reader = new ShardReader(client.resource(configMaps), SHARD, {
    onForeignObjects: (count) => foreign.push(count),
    onError: (error) => errors.push(error.message),
  });
  return { reader, paths, foreign, errors };
}

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

test("a list of a server that knows shards is taken as it is, every page asked for with the selector", async () => {
  const { reader, paths, foreign, errors } = setUp(
    listed([configMap("ours", "a")], { shardInfo: { selector: SELECTOR }, continue: "t" }),
    listed([configMap("ours", "b")], { shardInfo: { selector: SELECTOR } }),
  );
  expect(reader.isFilteredByServer).toBeUndefined();
  expect((await reader.list({ limit: 1 })).items).toHaveLength(1);
  await reader.list({ limit: 1, continue: "t" });
  expect(paths.map((parameters) => parameters.get("shardSelector"))).toEqual([SELECTOR, SELECTOR]);
  expect(reader.isFilteredByServer).toBe(true);
  expect([foreign, errors]).toEqual([[], []]);
});

test("of a list of a server that knows no shards only ours is kept, and nothing is made of the rest", async () => {
  const { reader, foreign, errors } = setUp(
    listed([configMap("other", "x"), configMap("ours", "a"), configMap("other", "y")]),
  );
  const mapped: (string | undefined)[] = [];
  const list = await reader.list({
    mapItem: (item) => {
      mapped.push(item.metadata.name);
      return item;
    },
  });
  expect(list.items.map(({ metadata }) => metadata.name)).toEqual(["a"]);
  expect(list.metadata.resourceVersion).toBe("9");
  expect(mapped).toEqual(["a"]);
  expect(reader.isFilteredByServer).toBe(false);
  expect([foreign, errors]).toEqual([[2], []]);
});

test("a server that reports a filtered list with foreign objects is reported", async () => {
  const { reader, errors } = setUp(listed([configMap("other", "x")], { shardInfo: { selector: SELECTOR } }));
  expect((await reader.list()).items).toEqual([]);
  expect(errors).toEqual([
    `1 of the listed configmaps are of no shard that was asked for: the server and this client differ in what is in ${SELECTOR}`,
  ]);
});

test("what is of other shards comes from a watch as progress only", async () => {
  const bookmark = { type: "BOOKMARK", object: { metadata: { resourceVersion: "15" } } };
  const events = [
    { type: "ADDED", object: configMap("other", "x", "10") },
    { type: "MODIFIED", object: configMap("ours", "a", "11") },
    { type: "DELETED", object: configMap("other", "x", "12") },
    bookmark,
    { type: "ERROR", object: { kind: "Status", code: 410 } },
  ];
  const { reader, paths, foreign } = setUp(watchResponse(events));
  const seen = await all(await reader.watch({ resourceVersion: "9" }));
  const progress = (resourceVersion: string) => ({
    type: "BOOKMARK",
    object: { kind: "ConfigMap", apiVersion: "v1", metadata: { resourceVersion } },
  });
  expect(seen).toEqual([progress("10"), events[1], progress("12"), bookmark, events[4]]);
  expect(paths[0]!.get("shardSelector")).toBe(SELECTOR);
  expect(foreign).toEqual([1, 1]);
  expect(reader.isFilteredByServer).toBe(false);
});

test("versions of what was there at the start are no progress", async () => {
  const end = {
    type: "BOOKMARK",
    object: { metadata: { resourceVersion: "9", annotations: { "k8s.io/initial-events-end": "true" } } },
  };
  const events = [
    { type: "ADDED", object: configMap("other", "x", "8") },
    { type: "ADDED", object: configMap("ours", "a", "3") },
    end,
    { type: "ADDED", object: configMap("other", "y", "10") },
  ];
  const { reader } = setUp(watchResponse(events));
  const seen = await all(await reader.watch({ sendInitialEvents: true }));
  expect(seen).toMatchObject([events[1]!, end, { type: "BOOKMARK", object: { metadata: { resourceVersion: "10" } } }]);
});

test("a selector that the server refuses is not sent again, and what is read is right all the same", async () => {
  const { reader, paths, errors } = setUp(
    refusedResponse,
    listed([configMap("other", "x"), configMap("ours", "a")]),
    watchResponse([]),
  );
  expect((await reader.list()).items).toHaveLength(1);
  await reader.watch({ resourceVersion: "9" });
  expect(paths.map((parameters) => parameters.has("shardSelector"))).toEqual([true, false, false]);
  expect(errors).toEqual(["invalid shard selector: no"]);
  expect(reader.isFilteredByServer).toBe(false);
});

test("an error that has another cause than the selector is thrown, and the selector is sent again", async () => {
  const { reader, paths, errors } = setUp(refusedResponse, refusedResponse, listed([], {}));
  await expect(reader.list()).rejects.toThrow("invalid shard selector: no");
  await reader.list();
  expect(paths.map((parameters) => parameters.has("shardSelector"))).toEqual([true, false, true]);
  expect(errors).toEqual([]);
});

test("a selector that is too long for some connections is not sent", async () => {
  const many = namespaceShard(Array.from({ length: 500 }, (_, index) => `ns-${index}`));
  const paths: string[] = [];
  const client = new Client({
    clock: new SimulatedClock(),
    transport: async ({ path }) => {
      paths.push(path);
      return listed([configMap("ns-7", "a"), configMap("other", "x")]);
    },
  });
  const reader = new ShardReader(client.resource(configMaps), many);
  expect(reader.selector.length).toBeGreaterThan(32_768);
  expect((await reader.list()).items).toHaveLength(1);
  expect(paths).toEqual(["/api/v1/configmaps"]);
});

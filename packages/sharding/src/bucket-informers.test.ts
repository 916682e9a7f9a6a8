import { configMaps, namespaces, nodes } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";

import { BucketInformers } from "./bucket-informers.js";
import { bucketOf } from "./bucket.js";
import { BucketLayout } from "./layout.js";

const BUCKET = bucketOf("team-a");

async function setUp({ layout, streamsLists = true }: { layout?: BucketLayout; streamsLists?: boolean } = {}) {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const random = seededRandom(1);
  const server = createApiServer({ clock, random, freeze: true, featureGates: { ShardedListAndWatch: true } });
  const client = new Client({ transport: server.transport, clock });
  for (const name of ["team-a", "team-b"]) await client.resource(namespaces).create({ metadata: { name } });
  const paths: string[] = [];
  const informers = new BucketInformers({
    client: new Client({
      transport: (request) => {
        paths.push(request.path);
        // Like an API server without streaming lists.
        if (!streamsLists && request.path.includes("sendInitialEvents")) return Promise.reject(new Error("400"));
        return server.transport(request);
      },
      clock,
    }),
    clock,
    random: random.fork("informers"),
    layout,
  });
  const stop = new AbortController();
  const running = informers.run(stop.signal);
  const acquire = (which = BUCKET) => {
    const factory = informers.forBucket(which);
    const giveUp = new AbortController();
    const caches = { configMaps: factory.informerFor(configMaps), nodes: factory.informerFor(nodes) };
    const ended = factory.run(giveUp.signal);
    const leave = async (): Promise<void> => {
      giveUp.abort(new Error("given up"));
      await ended;
    };
    return { ...caches, leave };
  };
  const end = async (): Promise<void> => {
    stop.abort(new Error("over"));
    await running;
  };
  const create = (namespace: string, name: string) =>
    client.resource(configMaps).create({ metadata: { namespace, name } });
  return { clock, client, informers, paths, acquire, end, create };
}

test("a bucket has caches of its namespaces, new ones each time it is acquired, and caches of cluster-scoped objects", async () => {
  const { clock, client, acquire, end, create } = await setUp();
  await client.resource(nodes).create({ metadata: { name: "first" } });
  await create("team-a", "ours");
  await create("team-b", "theirs");
  const bucket = acquire();
  await clock.advance(1_000);
  const names = ({ configMaps: cache }: typeof bucket) =>
    new Set(cache.store.list().map(({ metadata }) => metadata.name));
  expect([bucket.configMaps.hasSynced, names(bucket)]).toEqual([true, new Set(["ours"])]);
  await client.resource(nodes).create({ metadata: { name: "second" } });
  await client.resource(nodes).delete("first");
  await clock.advance(1_000);
  expect(bucket.nodes.store.list().map(({ metadata }) => metadata.name)).toEqual(["second"]);
  await bucket.leave();
  await create("team-a", "meanwhile");
  await clock.advance(60_000);
  expect(names(bucket)).toEqual(new Set(["ours"]));
  const again = acquire();
  await clock.advance(1_000);
  expect(names(again)).toEqual(new Set(["meanwhile", "ours"]));
  await again.leave();
  await end();
});

test("a deleted namespace is no longer listed, a recreated one of the same name is", async () => {
  const { clock, client, paths, acquire, end, create } = await setUp();
  const bucket = acquire();
  await clock.advance(1_000);
  await client.resource(namespaces).delete("team-a");
  await clock.advance(120_000);
  paths.length = 0;
  await clock.advance(900_000);
  expect(paths.filter((path) => path.includes("configmaps"))).toEqual([]);
  await client.resource(namespaces).create({ metadata: { name: "team-a" } });
  await create("team-a", "new");
  await clock.advance(5_000);
  expect(bucket.configMaps.store.list().map(({ metadata }) => metadata.name)).toEqual(["new"]);
  await bucket.leave();
  await end();
});

test.each([
  ["that streams lists", true],
  ["that does not", false],
])(
  "of a server %s a part of a namespace has all of it, as new as the store, and no other bucket any",
  async (_, streamsLists) => {
    const layout = new BucketLayout({ "team-a": 2 });
    const { clock, client, informers, paths, acquire, end, create } = await setUp({ layout, streamsLists });
    await client.resource(nodes).create({ metadata: { name: "first" } });
    await create("team-a", "hot");
    await create("team-b", "other");
    const caches = [acquire(), acquire(65), acquire(66)];
    await clock.advance(1_000);
    const names = caches.map(({ configMaps: cache }) => cache.store.list().map(({ metadata }) => metadata.name));
    expect(caches.map(({ configMaps: cache }) => cache.hasSynced)).toEqual([true, true, true]);
    expect(names).toEqual([[], ["hot"], ["hot"]]);
    expect(caches[1]!.nodes.store.list().map(({ metadata }) => metadata.name)).toEqual(["first"]);
    const first = paths.filter((path) => path.includes("/namespaces/team-a/configmaps"));
    expect(first.length).toBeGreaterThanOrEqual(2);
    expect(first.filter((path) => /[?&]resourceVersion=0(&|$)/.test(path))).toEqual([]);
    expect(informers.countNamespaces(BUCKET)).toBe(0);
    await create("team-a", "later");
    await clock.advance(1_000);
    expect(caches[2]!.configMaps.store.list()).toHaveLength(2);
    for (const cache of caches) await cache.leave();
    await end();
  },
);

import { type ConfigMap, type DeepReadonly, configMaps, namespaces as namespaceDefinition } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client, isAlreadyExists, isNotFound } from "@kubewright/client";
import { type Random, SimulatedClock, seededRandom } from "@kubewright/clock";
import type { Transport } from "@kubewright/transport";
import { describe, expect, test } from "vitest";

import { NamespaceFeed } from "./namespace-feed.js";
import type { ReflectorTarget } from "./reflector.js";

const NAMESPACES = Array.from({ length: 8 }, (_, index) => `ns-${index}`);
const SHARDED = { featureGates: { ShardedListAndWatch: true } };

/** A cache that records every object that goes back in time or belongs to a foreign namespace. */
class Cache implements ReflectorTarget<ConfigMap> {
  readonly objects = new Map<string, DeepReadonly<ConfigMap>>();
  readonly wrong: string[] = [];
  hasSynced = false;
  readonly #versions = new Map<string, number>();

  constructor(readonly namespaces: Set<string>) {}

  replace(objects: Iterable<DeepReadonly<ConfigMap>>, resourceVersion: string): void {
    this.hasSynced = true;
    const listed = new Map([...objects].map((object) => [keyOf(object), object]));
    for (const key of this.objects.keys()) if (!listed.has(key)) this.#versions.set(key, Number(resourceVersion));
    this.objects.clear();
    for (const object of listed.values()) this.#saw(object, true);
  }

  apply(type: "ADDED" | "MODIFIED" | "DELETED", object: DeepReadonly<ConfigMap>): void {
    if (!this.hasSynced) this.wrong.push(`${keyOf(object)} came before the whole`);
    this.#saw(object, false);
    if (type === "DELETED") this.objects.delete(keyOf(object));
  }

  bookmark(): void {}
  resync(): void {}

  #saw(object: DeepReadonly<ConfigMap>, isListed: boolean): void {
    const key = keyOf(object);
    const version = Number(object.metadata.resourceVersion);
    const known = this.#versions.get(key) ?? 0;
    if (version < known || (version === known && !isListed)) this.wrong.push(`${key} at ${version} after ${known}`);
    if (!this.namespaces.has(object.metadata.namespace!)) this.wrong.push(`${key} is none of this cache's`);
    this.#versions.set(key, version);
    this.objects.set(key, object);
  }

  content(): string[] {
    return [...this.objects.values()].map(described).sort();
  }
}

const keyOf = ({ metadata }: DeepReadonly<ConfigMap>): string => `${metadata.namespace}/${metadata.name}`;
const described = (object: DeepReadonly<ConfigMap>): string => `${keyOf(object)}@${object.metadata.resourceVersion}`;

interface Link {
  /** The fraction of events at which a watch breaks, and at which it ends as expired. */
  broken: number;
  expired: number;
}

async function setUp(options: object, seed = 1, link: Link = { broken: 0, expired: 0 }) {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const random = seededRandom(seed);
  const apiServer = createApiServer({ clock, random: random.fork("server"), freeze: true, ...options });
  const direct = new Client({ transport: apiServer.transport, clock });
  for (const name of NAMESPACES) await direct.resource(namespaceDefinition).create({ metadata: { name } });
  const paths: string[] = [];
  const transport = slow(apiServer.transport, clock, random.fork("link"), link, paths);
  let foreign = 0;
  const errors: string[] = [];
  const feed = new NamespaceFeed<ConfigMap>({
    client: new Client({ transport, clock }).resource(configMaps),
    clock,
    random: random.fork("feed"),
    onForeignObjects: (count) => void (foreign += count),
    onError: (error) => void errors.push(error.message),
  });
  const stop = new AbortController();
  const running = feed.run(stop.signal);
  return {
    clock,
    random,
    feed,
    paths,
    errors,
    foreign: () => foreign,
    maps: direct.resource(configMaps),
    signal: stop.signal,
    stop: async () => {
      stop.abort(new Error("over"));
      await running;
    },
  };
}

/** Delays requests and events by up to 50 ms. */
function slow(transport: Transport, clock: SimulatedClock, random: Random, link: Link, paths: string[]): Transport {
  const way = (): Promise<void> => clock.sleep(random.next() * 50);
  return async (request) => {
    paths.push(request.path);
    await way();
    request.signal?.throwIfAborted();
    const response = await transport(request);
    // Events overtake lists, and some lists take longer than a complete relist.
    await clock.sleep(random.next() < 0.2 ? 3_000 : 200);
    if (response.body.type !== "events") return response;
    const { events } = response.body;
    const delayed = async function* (): AsyncGenerator<unknown, void> {
      for await (const event of events) {
        await way();
        if (random.next() < link.expired) {
          const status = { kind: "Status", status: "Failure", reason: "Expired", code: 410, message: "too old" };
          yield { type: "ERROR", object: status };
          return;
        }
        if (random.next() < link.broken) throw new Error("read ECONNRESET");
        yield event;
      }
    };
    return { ...response, body: { type: "events", events: delayed() } };
  };
}

/**
 * Adds namespaces to a cache, like the code that assembles feeds. @param others - Resolves when other feeds are
 * prepared.
 */
async function join(
  feed: NamespaceFeed<ConfigMap>,
  cache: Cache,
  names: string[],
  signal: AbortSignal,
  others?: () => Promise<void>,
): Promise<void> {
  for (const name of names) cache.namespaces.add(name);
  do {
    await feed.prepare(cache, names, signal);
    await others?.();
  } while (!feed.isPrepared(names));
  feed.activate(cache, names);
}

const map = (namespace: string, name: string, data = {}): ConfigMap => ({ metadata: { namespace, name }, data });

describe.each([
  ["filters shards", SHARDED],
  ["knows no shards", {}],
])("of a server that %s", (_, options) => {
  test("namespaces that are added later are delivered, and objects of earlier ones are not delivered again", async () => {
    const { clock, feed, maps, signal, stop } = await setUp(options);
    await maps.create(map("ns-0", "old"));
    await maps.create(map("ns-1", "old"));
    const cache = new Cache(new Set());
    const first = join(feed, cache, ["ns-0"], signal);
    await clock.advance(10_000);
    await first;
    expect(cache.content()).toHaveLength(1);
    await maps.create(map("ns-0", "new"));
    const second = join(feed, cache, ["ns-1", "ns-2"], signal);
    await clock.advance(10_000);
    await second;
    await maps.create(map("ns-2", "new"));
    await clock.advance(10_000);
    expect([...cache.objects.keys()].sort()).toEqual(["ns-0/new", "ns-0/old", "ns-1/old", "ns-2/new"]);
    expect(cache.wrong).toEqual([]);
    await stop();
  });

  test("caches equal the server's state while namespaces are added and removed and watches break", async () => {
    for (let seed = 1; seed <= 12; seed++) {
      const link = { broken: 0, expired: 0 };
      const { clock, random, feed, maps, signal, stop } = await setUp(options, seed, link);
      const chance = random.fork("chance");
      const any = <Item>(items: readonly Item[]): Item => items[Math.floor(chance.next() * items.length)]!;
      const caches = new Map<string, Cache>();
      const joining: Promise<void>[] = [];
      const write = async (): Promise<void> => {
        const [namespace, name, verb] = [any(NAMESPACES), any(["a", "b", "c", "d"]), chance.next()];
        const patch = { type: "merge", body: { data: { at: `${clock.now()}` } } } as const;
        if (verb < 0.3) await maps.create(map(namespace, name)).catch(unless(isAlreadyExists));
        else if (verb < 0.7) await maps.patch(name, patch, { namespace }).catch(unless(isNotFound));
        else await maps.delete(name, { namespace }).catch(unless(isNotFound));
      };
      const move = (): void => {
        const namespace = any(NAMESPACES);
        const known = caches.get(namespace);
        if (known === undefined) {
          const cache = new Cache(new Set());
          caches.set(namespace, cache);
          joining.push(
            join(feed, cache, [namespace], signal, () => clock.sleep(chance.next() * 5_000)).catch(() => undefined),
          );
        } else if (known.hasSynced) {
          feed.removeTarget(known);
          caches.delete(namespace);
        }
      };
      for (let round = 0; round < 12; round++) {
        link.broken = link.expired = round % 3 === 0 ? 0 : 0.02;
        for (let step = 0; step < 20; step++) {
          await write();
          if (chance.next() < 0.2) move();
          await clock.advance(chance.next() * 150);
        }
        link.broken = link.expired = 0;
        // The maximum duration of a back-off.
        await clock.advance(120_000);
        for (const [namespace, cache] of caches) {
          const { items } = await maps.list({ namespace });
          expect([seed, round, namespace, cache.content()]).toEqual([
            seed,
            round,
            namespace,
            items.map(described).sort(),
          ]);
          expect(cache.wrong).toEqual([]);
        }
      }
      await stop();
      await Promise.all(joining);
    }
  });
});

function unless(isExpected: (error: unknown) => boolean) {
  return (error: unknown): void => {
    if (!isExpected(error)) throw error;
  };
}

test("a server that filters sends nothing of other namespaces, and without any nothing at all is watched", async () => {
  const { clock, feed, maps, signal, stop, foreign, paths } = await setUp(SHARDED);
  await clock.advance(1_000);
  expect(paths.filter((path) => path.includes("watch="))).toEqual([]);
  const cache = new Cache(new Set());
  const joined = join(feed, cache, ["ns-0"], signal);
  await clock.advance(10_000);
  await joined;
  for (const namespace of NAMESPACES) await maps.create(map(namespace, "new"));
  await clock.advance(1_000);
  expect([foreign(), cache.objects.size]).toEqual([0, 1]);
  const watches = paths.filter((path) => path.includes("watch="));
  expect(watches.every((path) => path.includes("shardSelector="))).toBe(true);
  await stop();
});

test("many namespaces are listed in one request", async () => {
  const { clock, feed, signal, stop, paths } = await setUp(SHARDED);
  const names = Array.from({ length: 100 }, (_, index) => `many-${index}`);
  const cache = new Cache(new Set());
  const joined = join(feed, cache, names, signal);
  await clock.advance(10_000);
  await joined;
  expect(paths.length).toBeLessThan(6);
  await stop();
});

test("a namespace is delivered to one target only", async () => {
  const { clock, feed, signal, stop } = await setUp(SHARDED);
  const joined = join(feed, new Cache(new Set()), ["ns-0"], signal);
  await expect(feed.prepare(new Cache(new Set()), ["ns-0"], signal)).rejects.toThrow("already delivered");
  await clock.advance(10_000);
  await joined;
  await stop();
});

test("what has ended prepares nothing more, and says so", async () => {
  const { feed, stop } = await setUp(SHARDED);
  await stop();
  await expect(feed.prepare(new Cache(new Set()), ["ns-0"], new AbortController().signal)).rejects.toThrow("over");
});

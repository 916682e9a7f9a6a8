import { type ConfigMap, type DeepReadonly, configMaps, keyOf } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import type { ResponseBody, Transport } from "@kubewright/transport";
import { expect, test } from "vitest";

import { connectionRefused } from "../test/scripted-server.js";
import { SharedInformer, type SharedInformerOptions } from "./shared-informer.js";
import { deletedObject, isDeletedFinalStateUnknown } from "./tombstone.js";

/**
 * Returns an embedded API server, a separate client for the test, and an informer with a connection into which the test
 * injects faults.
 */
function setUp({ seed = 1, ...options }: Partial<SharedInformerOptions<ConfigMap>> & { seed?: number } = {}) {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const random = seededRandom(seed);
  const server = createApiServer({ clock, random, freeze: true });
  const maps = new Client({ transport: server.transport, clock }).resource(configMaps);
  const faults = { refuse: false, cutAfter: (): number => Infinity };
  const transport: Transport = async (request) => {
    if (faults.refuse) throw connectionRefused();
    const response = await server.transport(request);
    return { ...response, body: cut(response.body, faults) };
  };
  const errors: string[] = [];
  const client = new Client({ transport, clock }).resource(configMaps);
  const informer = new SharedInformer<ConfigMap>({
    client,
    clock,
    random: random.fork("informer"),
    onError: (error) => errors.push(error.message),
    ...options,
  });
  const controller = new AbortController();
  const stopped = informer.run(controller.signal);
  const stop = (): Promise<void> => {
    controller.abort(new Error("test is over"));
    return stopped;
  };
  const create = (name: string, value = "0") =>
    maps.create({ metadata: { name, namespace: "default" }, data: { value } });
  return { clock, server, maps, faults, informer, errors, stop, create, random };
}

/** Breaks a stream after some events, or immediately while connections are refused. */
function cut(body: ResponseBody, faults: { readonly refuse: boolean; readonly cutAfter: () => number }): ResponseBody {
  if (body.type !== "events") return body;
  const { events } = body;
  const left = faults.cutAfter();
  return {
    type: "events",
    events: (async function* () {
      let count = 0;
      for await (const event of events) {
        if (faults.refuse || ++count > left) throw new Error("read ECONNRESET");
        yield event;
      }
    })(),
  };
}

function follow(informer: SharedInformer<ConfigMap>) {
  const seen = new Map<string, string>();
  const tombstones: string[] = [];
  const surprises: string[] = [];
  informer.addEventHandler({
    onAdd(object) {
      if (seen.has(keyOf(object))) surprises.push(`added twice: ${keyOf(object)}`);
      seen.set(keyOf(object), object.metadata.resourceVersion ?? "");
    },
    onUpdate(oldObject, newObject) {
      if (seen.get(keyOf(oldObject)) !== oldObject.metadata.resourceVersion)
        surprises.push(`missed a change of ${keyOf(oldObject)}`);
      seen.set(keyOf(newObject), newObject.metadata.resourceVersion ?? "");
    },
    onDelete(deleted) {
      const object = deletedObject(deleted)!;
      if (isDeletedFinalStateUnknown(deleted)) tombstones.push(object.metadata.name ?? "");
      if (!seen.delete(keyOf(object))) surprises.push(`deleted, but never added: ${keyOf(object)}`);
    },
  });
  return { seen, tombstones, surprises };
}

function versions(objects: readonly DeepReadonly<ConfigMap>[]): Map<string, string> {
  return new Map(objects.map((object) => [keyOf(object), object.metadata.resourceVersion ?? ""]));
}

test("the cache holds what the server holds, at first and after every write, streamed or listed", async () => {
  for (const watchList of [true, false]) {
    const { clock, server, maps, informer, errors, stop, create } = setUp({ watchList });
    await create("a");
    await create("b");
    const { seen, surprises } = follow(informer);
    await clock.settle();
    expect(informer.hasSynced).toBe(true);
    expect([...seen.keys()].sort()).toEqual(["default/a", "default/b"]);

    const c = await create("c");
    await maps.update({ ...c, data: { value: "1" } });
    await maps.delete("a", { namespace: "default" });
    await clock.settle();
    expect(seen).toEqual(versions((await maps.list()).items));
    expect(versions(informer.store.list())).toEqual(seen);
    expect(informer.store.lastStoreSyncResourceVersion).toBe(server.resourceVersion);
    expect(errors).toEqual([]);
    expect(surprises).toEqual([]);
    await stop();
    await server.close();
    // The server's last timer, for bookmarks, fires. A timer of a watch would be due much later.
    await clock.advance(60_000);
    expect(clock.pendingTimers).toBe(0);
    expect(clock.nextTimerInMs).toBeUndefined();
  }
});

test("hours of quiet are watch after watch: no list, no error, no event", async () => {
  const { clock, server, informer, errors, stop, create } = setUp();
  const requests: string[] = [];
  server.observe(({ verb, resource, userAgent }) => {
    if (resource === "configmaps" && userAgent === "kubewright") requests.push(verb);
  });
  await create("a");
  requests.length = 0;
  const { seen } = follow(informer);
  await clock.advance(6 * 3_600_000);
  expect(seen.size).toBe(1);
  expect(errors).toEqual([]);
  expect(new Set(requests)).toEqual(new Set(["watch"]));
  expect(requests.length).toBeGreaterThanOrEqual(36);
  expect(requests.length).toBeLessThanOrEqual(74);
  await stop();
});

test("while the server was away and its history went, nothing is lost: what vanished comes as tombstones", async () => {
  for (const watchList of [true, false]) {
    const { clock, server, maps, faults, informer, errors, stop, create } = setUp({ watchList });
    await create("kept");
    await create("changed");
    await create("gone");
    const { seen, tombstones, surprises } = follow(informer);
    await clock.settle();

    faults.refuse = true;
    await maps.delete("gone", { namespace: "default" });
    const changed = await maps.get("changed", { namespace: "default" });
    await maps.update({ ...changed, data: { value: "1" } });
    await create("new");
    server.compact();
    await clock.advance(60_000);
    expect(errors.some((message) => message.includes("ECONNREFUSED"))).toBe(true);

    faults.refuse = false;
    await clock.advance(120_000);
    expect(tombstones).toEqual(["gone"]);
    expect(seen).toEqual(versions((await maps.list()).items));
    expect(versions(informer.store.list())).toEqual(seen);
    expect(surprises).toEqual([]);
    await stop();
  }
});

test("with connections cut at random, no change is lost or delivered twice", async () => {
  for (let seed = 1; seed <= 15; seed++) {
    const { clock, server, maps, faults, informer, stop, create, random } = setUp({ seed, watchList: seed % 2 === 0 });
    const { seen, surprises } = follow(informer);
    faults.cutAfter = () => Math.floor(random.next() * 6);
    for (let step = 0; step < 200; step++) {
      const name = `map-${Math.floor(random.next() * 8)}`;
      const known = (await maps.list()).items.find((object) => object.metadata.name === name);
      const lot = random.next();
      if (known === undefined) await create(name);
      else if (lot < 0.3) await maps.delete(name, { namespace: "default" });
      else await maps.update({ ...known, data: { value: `${step}` } });
      if (lot < 0.02) server.compact();
      if (lot > 0.5) await clock.advance(Math.floor(random.next() * 3000));
    }
    faults.cutAfter = () => Infinity;
    await clock.advance(120_000);
    const expected = versions((await maps.list()).items);
    expect(seen, `seed ${seed}`).toEqual(expected);
    expect(versions(informer.store.list()), `seed ${seed}`).toEqual(expected);
    expect(surprises, `seed ${seed}`).toEqual([]);
    await stop();
    expect(clock.pendingTimers).toBe(0);
  }
});

test("equal seeds give equal runs", async () => {
  const run = async (): Promise<string[]> => {
    const { clock, maps, faults, informer, stop, create, random } = setUp({ seed: 42 });
    const log: string[] = [];
    informer.addEventHandler({
      onAdd: (object) => log.push(`${clock.now()} add ${object.metadata.name} ${object.metadata.uid}`),
      onUpdate: (_old, object) =>
        log.push(`${clock.now()} update ${object.metadata.name}@${object.metadata.resourceVersion}`),
    });
    faults.cutAfter = () => 1 + Math.floor(random.next() * 4);
    for (let step = 0; step < 50; step++) {
      const map = await create(`map-${step}`);
      await maps.update({ ...map, data: { value: "1" } });
      await clock.advance(700);
    }
    await stop();
    return log;
  };
  const first = await run();
  expect(first.length).toBeGreaterThan(60);
  expect(await run()).toEqual(first);
});

import { setTimeout as sleep } from "node:timers/promises";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { expect, test } from "vitest";

import { NO_LEAKS, startFaultyInformer } from "../test/fault-fixture.js";
import type { Fault, Verb } from "../test/fault-proxy.js";
import {
  answer,
  cutAfter,
  cutBody,
  dropAfter,
  endBody,
  errorAfter,
  garbageAfter,
  hangUp,
  inPieces,
  replayAfter,
  slowBy,
  truncateAfter,
} from "../test/faults.js";

// Runs over real sockets, at eighty times the speed: the reflector's back-offs of 0.8 s and more take 10 ms and more.

const HEAVY = process.env["KUBEWRIGHT_HEAVY"] === "1";
const NOT_AN_EVENT =
  '{"type":"ADDED","object":{"kind":"Secret","apiVersion":"v1","metadata":{"name":"x"}}}\nnull\n42\n';

/** Faults for the next watch. */
const watchFaults: Readonly<Record<string, readonly Fault[]>> = {
  "a reset before the answer": [hangUp],
  "a reset before the first event": [cutAfter(0)],
  "a reset after three events": [cutAfter(3)],
  "resets again and again": [cutAfter(1), cutAfter(0), cutAfter(2), hangUp, cutAfter(1)],
  "a line cut short by a reset": [truncateAfter(2, "cut")],
  "a line cut short by a proper end": [truncateAfter(2, "end")],
  "events swallowed before a reset": [dropAfter(1, 3, "cut")],
  "events swallowed before a proper end": [dropAfter(1, 3, "end")],
  "old events in the middle": [replayAfter(2, 5)],
  "old events, then a reset": [replayAfter(2, 5, "cut")],
  "410 Expired": [answer(410, "Expired")],
  "410 Gone": [answer(410, "Gone")],
  "429 with Retry-After": [answer(429, "TooManyRequests", { "retry-after": "1" })],
  "429 without Retry-After": [answer(429, "TooManyRequests")],
  "500 with a Status": [answer(500, "InternalError")],
  "500 with a web page": [answer(500)],
  "503 with Retry-After": [answer(503, "ServiceUnavailable", { "retry-after": "1" })],
  "401, once": [answer(401, "Unauthorized")],
  "403, once": [answer(403, "Forbidden")],
  "504 too large resource version": [answer(504, "Timeout", { "retry-after": "1" })],
  "a web page with status 200": [async (exchange) => exchange.answer(200, "<html>sign in</html>")],
  "ERROR event 410": [errorAfter(2, 410, "Expired")],
  "ERROR event 429": [errorAfter(1, 429, "TooManyRequests")],
  "ERROR event 500": [errorAfter(1, 500, "InternalError")],
  "a line that is not JSON": [garbageAfter(2, "}{ not json\n")],
  "bytes that are not UTF-8": [garbageAfter(1, new Uint8Array([0xff, 0xfe, 0x0a]))],
  "lines that are no events": [garbageAfter(2, NOT_AN_EVENT)],
  "a slow answer": [slowBy(50)],
  "an answer in small pieces": [inPieces(3)],
};

/** Faults for the next list. */
const listFaults: Readonly<Record<string, readonly Fault[]>> = {
  "a reset before the answer": [hangUp],
  "a reset in the middle": [cutBody],
  "a proper end in the middle": [endBody],
  "410": [answer(410, "Expired")],
  "429 with Retry-After": [answer(429, "TooManyRequests", { "retry-after": "1" })],
  "429 without Retry-After": [answer(429, "TooManyRequests")],
  "500, then 503, then a reset": [answer(500, "InternalError"), answer(503), hangUp],
  "a web page": [async (exchange) => exchange.answer(200, "<html>sign in</html>")],
  "JSON that is no list": ["[1,2,3]", '{"metadata":{"resourceVersion":"1"}}'].map(
    (body): Fault =>
      async (exchange) =>
        exchange.answer(200, body),
  ),
  "a slow answer": [slowBy(50)],
};

const cases = [true, false].flatMap((watchList) => [
  ...Object.entries(watchFaults).map(([name, faults]) => ({ watchList, verb: "watch" as Verb, name, faults })),
  ...Object.entries(listFaults).map(([name, faults]) => ({ watchList, verb: "list" as Verb, name, faults })),
]);

test.for(cases)(
  "the cache equals the server's truth after a fault, and nothing leaks: $verb, $name (streamed: $watchList)",
  async ({ watchList, verb, faults }) => {
    const cluster = await startFaultyInformer({ watchList });
    const { proxy } = cluster;
    for (let index = 0; index < 5; index++) await cluster.put(`map-${index}`);

    // During the first sync ...
    injectAt(verb, faults, cluster);
    cluster.start();
    await cluster.write(5);
    await cluster.converged();
    proxy.forget();

    // ... and later, while the informer is running.
    await cluster.write(5);
    await cluster.converged();
    if (verb === "list") proxy.inject("watch", errorAfter(0, 410, "Expired"));
    injectAt(verb, faults, cluster);
    proxy.cutAll();
    await cluster.write(10);
    await cluster.injected(verb);
    await cluster.converged();
    await cluster.write(5);
    await cluster.converged();

    expect(cluster.view.surprises).toEqual([]);
    expect(await cluster.finish()).toEqual(NO_LEAKS);
  },
);

/** Injects faults. A streaming informer lists only when the server refuses to stream, so streams are refused first. */
function injectAt(
  verb: Verb,
  faults: readonly Fault[],
  { proxy, watchList }: Awaited<ReturnType<typeof startFaultyInformer>>,
): void {
  if (verb === "list" && watchList) proxy.inject("watch", ...faults.map(() => answer(400, "BadRequest")));
  proxy.inject(verb, ...faults);
}

test("a server that is away, again and again, is found again", async () => {
  const cluster = await startFaultyInformer();
  cluster.start();
  await cluster.converged();
  for (let round = 0; round < 3; round++) {
    cluster.proxy.down = true;
    cluster.proxy.cutAll();
    await cluster.write(10);
    await sleep(50);
    cluster.proxy.down = false;
    await cluster.converged();
  }
  expect(cluster.view.surprises).toEqual([]);
  expect(await cluster.finish()).toEqual(NO_LEAKS);
});

test("a history that was compacted during an outage is made up for, deletions included", async () => {
  for (const watchList of [true, false]) {
    const cluster = await startFaultyInformer({ watchList });
    cluster.start();
    await cluster.write(20);
    await cluster.converged();
    cluster.proxy.down = true;
    cluster.proxy.cutAll();
    await cluster.write(20);
    await cluster.remove("first");
    cluster.server.compact();
    cluster.proxy.down = false;
    await cluster.converged();
    expect(cluster.view.surprises).toEqual([]);
    expect(await cluster.finish()).toEqual(NO_LEAKS);
  }
});

test("an informer that is stopped in the middle of any fault ends at once and leaves nothing", async () => {
  for (const fault of [
    slowBy(500),
    cutAfter(1),
    inPieces(3),
    answer(429, "TooManyRequests", { "retry-after": "30" }),
  ]) {
    for (const watchList of [true, false]) {
      const cluster = await startFaultyInformer({ watchList });
      cluster.proxy.inject("watch", fault);
      cluster.proxy.inject("list", fault);
      cluster.start();
      await sleep(10);
      const begun = performance.now();
      expect(await cluster.finish()).toEqual(NO_LEAKS);
      // Must not wait for the 30 s that the server requested.
      expect(performance.now() - begun).toBeLessThan(10_000);
    }
  }
});

test(
  "through faults drawn at random, under writes at random, nothing is lost",
  { timeout: HEAVY ? 600_000 : 60_000 },
  async () => {
    const all = Object.values(watchFaults).map((faults) => ({ verb: "watch" as Verb, faults }));
    all.push(...Object.values(listFaults).map((faults) => ({ verb: "list" as Verb, faults })));
    for (let seed = 1; seed <= (HEAVY ? 300 : 4); seed++) {
      const cluster = await startFaultyInformer({ seed, watchList: seed % 2 === 0 });
      const draw = cluster.random.fork("faults");
      cluster.start();
      for (let round = 0; round < 12; round++) {
        const { verb, faults } = all[Math.floor(draw.next() * all.length)]!;
        injectAt(verb, faults, cluster);
        if (draw.next() < 0.3) cluster.server.compact();
        if (draw.next() < 0.7) cluster.proxy.cutAll();
        await cluster.write(8);
      }
      cluster.proxy.forget();
      await cluster.write(3);
      await cluster.converged().catch((error: unknown) => {
        throw new Error(`seed ${seed}`, { cause: error });
      });
      expect(cluster.view.surprises).toEqual([]);
      expect(await cluster.finish()).toEqual(NO_LEAKS);
    }
  },
);

test("memory stays flat over 100,000 events", async () => {
  const cluster = await startFaultyInformer();
  for (let index = 0; index < 100; index++) await cluster.put(`map-${index}`);
  cluster.start();
  await cluster.converged();
  const heapAfter: number[] = [];
  for (let round = 0; round < 5; round++) {
    for (let index = 0; index < 20_000; index++) {
      await cluster.put(`map-${index % 100}`);
      // Not faster than the informer reads: the server drops a watch that falls too far behind.
      if (index % 500 === 0) await cluster.converged();
    }
    await cluster.converged();
    // Broken connections must not accumulate memory either.
    cluster.proxy.cutAll();
    await cluster.write(1);
    await cluster.converged();
    heapAfter.push(usedHeapMiB());
  }
  expect(cluster.view.updates).toBeGreaterThan(99_000);
  // A leak of a hundred bytes per event would be 8 MiB.
  expect(heapAfter.at(-1)! - heapAfter[0]!).toBeLessThan(5);
  expect(cluster.view.surprises).toEqual([]);
  expect(await cluster.finish()).toEqual(NO_LEAKS);
});

function usedHeapMiB(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  collect();
  return getHeapStatistics().used_heap_size / 2 ** 20;
}

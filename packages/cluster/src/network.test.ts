import { SimulatedClock } from "@kubewright/clock";
import type { ApiRequest, ApiResponse } from "@kubewright/transport";
import { expect, test } from "vitest";

import { Network } from "./network.js";

const GET: ApiRequest = { method: "GET", path: "/api/v1/pods?watch=true", headers: {} };

/** A stream that tests feed. */
class Feed implements AsyncIterable<unknown>, AsyncIterator<unknown, undefined> {
  readonly #events: unknown[] = [];
  #wake: (() => void) | undefined;
  ended = false;

  [Symbol.asyncIterator](): this {
    return this;
  }

  push(event: unknown): void {
    this.#events.push(event);
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<unknown, undefined>> {
    while (this.#events.length === 0 && !this.ended) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.ended ? { done: true, value: undefined } : { done: false, value: this.#events.shift() };
  }

  return(): Promise<IteratorResult<unknown, undefined>> {
    this.ended = true;
    this.#wake?.();
    return Promise.resolve({ done: true, value: undefined });
  }
}

function setUp() {
  const clock = new SimulatedClock(0);
  const feed = new Feed();
  const network = new Network({
    clock,
    transport: async () => ({ status: 200, headers: {}, body: { type: "events", events: feed } }),
  });
  return { clock, feed, network };
}

/** Collects what a watch delivers, until it ends. */
function read({ body }: ApiResponse): { readonly seen: unknown[]; readonly ended: Promise<void> } {
  const seen: unknown[] = [];
  const collect = async (): Promise<void> => {
    if (body.type !== "events") throw new Error("no stream");
    for await (const event of body.events) seen.push(event);
  };
  return { seen, ended: collect() };
}

test("requests have the longest delay that applies to them", async () => {
  const { clock, network } = setUp();
  network.begin({ delayMs: 1000 });
  const endLonger = network.begin({ delayMs: 3000, components: ["a"] });
  const answered: string[] = [];
  for (const component of ["a", "b"])
    void network
      .link(component)(GET)
      .then(() => answered.push(`${component} at ${clock.monotonic()}`));
  await clock.advance(5000);
  expect(answered).toEqual(["b at 1000", "a at 3000"]);
  endLonger();
  void network
    .link("a")(GET)
    .then(() => answered.push(`a at ${clock.monotonic()}`));
  await clock.advance(5000);
  expect(answered.at(-1)).toBe("a at 6000");
});

test("when the server is down connections are refused and the affected watches are cut", async () => {
  const { clock, feed, network } = setUp();
  const { seen, ended } = read(await network.link("a")(GET));
  feed.push(1);
  await clock.settle();
  const end = network.begin({ down: true, components: ["a"] });
  feed.push(2);
  await ended;
  expect(seen).toEqual([1]);
  expect(feed.ended).toBe(true);
  await expect(network.link("a")(GET)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  await expect(network.link("b")(GET)).resolves.toMatchObject({ status: 200 });
  end();
  await expect(network.link("a")(GET)).resolves.toMatchObject({ status: 200 });
});

test("events that are held back come when the last hold has ended, in order", async () => {
  const { clock, feed, network } = setUp();
  const ends = [
    network.begin({ heldBackResources: ["pods"] }),
    network.begin({ heldBackResources: ["pods", "jobs"], components: ["a"] }),
  ];
  const { seen } = read(await network.link("a")(GET));
  for (const event of [1, 2, 3]) feed.push(event);
  await clock.settle();
  ends[0]!();
  await clock.settle();
  expect(seen).toEqual([]);
  ends[1]!();
  await clock.settle();
  expect(seen).toEqual([1, 2, 3]);
});

test("a watch whose events are held back still ends with its request", async () => {
  const { feed, network } = setUp();
  network.begin({ heldBackResources: ["pods"] });
  const stop = new AbortController();
  const { seen, ended } = read(await network.link("a")({ ...GET, signal: stop.signal }));
  feed.push(1);
  stop.abort();
  await ended;
  expect(seen).toEqual([]);
  expect(feed.ended).toBe(true);
});

test("the link of a killed process carries nothing, not even requests in flight", async () => {
  const { clock, network } = setUp();
  let alive = true;
  network.begin({ delayMs: 1000 });
  const sent = network.link("a", () => alive)({ method: "POST", path: "/api/v1/pods", headers: {} });
  const outcome = sent.then(
    () => "sent",
    (error: Error) => error.message,
  );
  alive = false;
  await clock.advance(1000);
  expect(await outcome).toBe("a is not running");
});

test("a handler answers a request, or passes it to the next handler and the server", async () => {
  const { network } = setUp();
  const asked: string[] = [];
  const refused: ApiResponse = { status: 503, headers: {}, body: { type: "decoded", value: {} } };
  network.begin({
    handle: async (request, send) => {
      asked.push("first");
      return send(request);
    },
  });
  const end = network.begin({
    components: ["a"],
    handle: async () => {
      asked.push("second");
      return refused;
    },
  });
  expect(await network.link("a")(GET)).toMatchObject({ status: 503 });
  expect(await network.link("b")(GET)).toMatchObject({ status: 200 });
  end();
  expect(await network.link("a")(GET)).toMatchObject({ status: 200 });
  expect(asked).toEqual(["first", "second", "first", "first"]);
});

test("a request that a handler passes on late is not sent for a process killed meanwhile", async () => {
  const { clock, network } = setUp();
  let alive = true;
  network.begin({
    handle: async (request, send) => {
      await clock.sleep(1000);
      return send(request);
    },
  });
  const sent = network.link("a", () => alive)(GET);
  const outcome = sent.catch((error: Error) => error.message);
  await clock.settle();
  alive = false;
  await clock.advance(1000);
  expect(await outcome).toBe("a is not running");
});

test("open watches are cut once, and may be opened again", async () => {
  const { feed, network } = setUp();
  const { ended } = read(await network.link("a")(GET));
  expect(network.cutWatches({ components: ["b"] })).toBe(0);
  expect(network.cutWatches({ components: ["a"] })).toBe(1);
  await ended;
  expect(feed.ended).toBe(true);
  expect(await network.link("a")(GET)).toMatchObject({ status: 200 });
});

test("a watch of bytes is held back and cut like any other, and a list of bytes is not", async () => {
  const clock = new SimulatedClock(0);
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(1);
    yield new Uint8Array(2);
  };
  const network = new Network({
    clock,
    transport: async () => ({ status: 200, headers: {}, body: { type: "bytes", chunks: chunks() } }),
  });
  const lengths: number[] = [];
  const collect = async ({ body }: ApiResponse): Promise<void> => {
    if (body.type !== "bytes") throw new Error("no bytes");
    for await (const chunk of body.chunks) lengths.push(chunk.length);
  };
  const end = network.begin({ heldBackResources: ["pods"] });
  const ended = collect(await network.link("a")(GET));
  await clock.settle();
  expect(lengths).toEqual([]);
  end();
  await ended;
  expect(lengths).toEqual([1, 2]);
  const list = await network.link("a")({ ...GET, path: "/api/v1/pods" });
  expect(network.cutWatches()).toBe(0);
  await collect(list);
  expect(lengths).toEqual([1, 2, 1, 2]);
});

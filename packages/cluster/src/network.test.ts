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

test("requests are late by the longest delay that concerns them", async () => {
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

test("when the server is down connections are refused and watches of those concerned are cut", async () => {
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
    network.begin({ heldResources: ["pods"] }),
    network.begin({ heldResources: ["pods", "jobs"], components: ["a"] }),
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
  network.begin({ heldResources: ["pods"] });
  const stop = new AbortController();
  const { seen, ended } = read(await network.link("a")({ ...GET, signal: stop.signal }));
  feed.push(1);
  stop.abort();
  await ended;
  expect(seen).toEqual([]);
  expect(feed.ended).toBe(true);
});

test("nothing goes over the link of a process that is gone, not even what had begun", async () => {
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

import { SimulatedClock, seededRandom } from "@kubewright/clock";
import type { ApiRequest } from "@kubewright/transport";
import { expect, test } from "vitest";

import { type NetworkExchange, Network } from "./network.js";
import { ProcessClock } from "./process-clock.js";

const WATCH: ApiRequest = { method: "GET", path: "/api/v1/pods?watch=true", headers: {} };
const POST: ApiRequest = { method: "POST", path: "/api/v1/namespaces/default/pods", headers: {} };

/** Creates a network to a server that responds immediately, and whose watches deliver `events` events immediately. */
function setUp({ events = 0, requestsMs = 0, eventsMs = 0, seed = 1 } = {}) {
  const clock = new SimulatedClock(0);
  const arrived: number[] = [];
  const network = new Network({
    clock,
    delays: { requestsMs, eventsMs, random: seededRandom(seed) },
    transport: async () => {
      arrived.push(clock.monotonic());
      const stream = (async function* () {
        for (let index = 0; index < events; index++) yield index;
        await new Promise(() => {});
      })();
      return { status: 200, headers: {}, body: { type: "events", events: stream } };
    },
  });
  return { clock, network, arrived };
}

test("requests and responses have delays drawn for their component, independent of other components", async () => {
  const timesOf = async (others: number): Promise<string[]> => {
    const { clock, network } = setUp({ requestsMs: 100 });
    const times: string[] = [];
    const send = async (component: string): Promise<void> => {
      await network.link(component)(POST);
      if (component === "a") times.push(String(clock.monotonic()));
    };
    for (let index = 0; index < 3; index++) void send("a");
    for (let index = 0; index < others; index++) void send("b");
    await clock.advance(1_000);
    return times;
  };
  const times = await timesOf(0);
  expect(new Set(times).size).toBeGreaterThan(1);
  expect(times.every((time) => Number(time) <= 100)).toBe(true);
  expect(await timesOf(5)).toEqual(times);
});

test("events have drawn delays up to a maximum, and stay in order", async () => {
  const { clock, network } = setUp({ events: 20, eventsMs: 1_000 });
  const { body } = await network.link("a")(WATCH);
  const seen: { readonly event: unknown; readonly atMs: number }[] = [];
  const read = async (): Promise<void> => {
    if (body.type !== "events") throw new Error("no stream");
    for await (const event of body.events) seen.push({ event, atMs: clock.monotonic() });
  };
  void read();
  await clock.advance(1_000);
  expect(seen.map(({ event }) => event)).toEqual(Array.from({ length: 20 }, (_, index) => index));
  expect(new Set(seen.map(({ atMs }) => atMs)).size).toBeGreaterThan(2);
});

test("an observer is notified of the server's response and of the sender's", async () => {
  const { clock, network } = setUp();
  const reported: NetworkExchange[] = [];
  network.observe((answered) => reported.push(answered));
  network.begin({
    components: ["lost"],
    handle: async (request, send) => {
      await send(request);
      throw new Error("lost");
    },
  });
  network.begin({ components: ["down"], down: true });
  for (const component of ["fine", "lost", "down"])
    void network
      .link(component)(POST)
      .catch(() => {});
  await clock.settle();
  expect(
    reported.map(({ sender, response, served }) => `${sender.component} ${response?.status} ${served?.status}`).sort(),
  ).toEqual(["down undefined undefined", "fine 200 200", "lost undefined 200"]);
});

test("a paused process gets neither timers nor responses, and gets all in order when it resumes", async () => {
  const { clock, network, arrived } = setUp();
  const machine = new ProcessClock(clock);
  const send = network.link("a", undefined, { process: "m", incarnation: 1, resumed: () => machine.resumed });
  const seen: string[] = [];
  const note = (what: string) => () => void seen.push(`${what} at ${clock.monotonic()}`);
  machine.setTimer(20, note("timer"));
  machine.setTimer(10, note("earlier timer"));
  machine.setTimer(15, note("cancelled")).cancel();
  machine.isPaused = true;
  const cancelledLater = machine.setTimer(5, note("cancelled later"));
  void send(POST).then(note("answer"));
  await clock.advance(100);
  expect([seen, arrived]).toEqual([[], []]);
  cancelledLater.cancel();
  machine.isPaused = false;
  await clock.advance(100);
  expect(seen.toSorted()).toEqual(["answer at 100", "earlier timer at 100", "timer at 100"]);
  expect(seen.indexOf("earlier timer at 100")).toBeLessThan(seen.indexOf("timer at 100"));
  expect(machine.monotonic()).toBe(200);
});

test("silent watches do not end until they are cut", async () => {
  const { clock, network } = setUp({ events: 3 });
  const open = network.link("a");
  const { body } = await open(WATCH);
  const end = network.silenceWatches({ components: ["a"] });
  const { body: later } = await open(WATCH);
  const counts = [0, 0];
  let ended = false;
  const read = async (index: number, stream: typeof body): Promise<void> => {
    if (stream.type !== "events") throw new Error("no stream");
    for await (const _event of stream.events) counts[index]!++;
    ended ||= index === 0;
  };
  void read(0, body);
  void read(1, later);
  await clock.settle();
  expect([counts, ended]).toEqual([[0, 3], false]);
  end();
  await clock.settle();
  expect([counts, ended]).toEqual([[0, 3], true]);
});

test("the reported time of a request is when its component sends it, not when it arrives", async () => {
  const { clock, network, arrived } = setUp({ requestsMs: 100 });
  const reported: number[] = [];
  network.observe(({ sentMs }) => void reported.push(sentMs));
  network.begin({ delayMs: 1_000 });
  void network.link("a")(POST);
  await clock.advance(2_000);
  expect(reported).toEqual([0]);
  expect(arrived[0]).toBeGreaterThanOrEqual(1_000);
});

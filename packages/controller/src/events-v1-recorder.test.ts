import { type EventsV1, events, eventsV1, nodes, pods } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom, silentLogger } from "@kubewright/clock";
import type { ApiRequest, Transport } from "@kubewright/transport";
import { expect, test } from "vitest";

import { refusal, scriptedTransport, stored } from "../test/scripted-transport.js";
import type { EventDetails } from "./event-sink.js";
import { EventsV1Recorder } from "./events-v1-recorder.js";

const place = { namespace: "default" };
const pod = { metadata: { name: "p", namespace: "default", uid: "u1", resourceVersion: "7" } };
const node = { metadata: { name: "n", uid: "u2" } };
const MINUTE_MS = 60_000;

/** Requests that are `broken` fail before they are sent. */
function setUp({ broken = () => false }: { broken?: (request: ApiRequest) => boolean } = {}) {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({ clock, random: seededRandom(1), freeze: true });
  const requests: string[] = [];
  const transport: Transport = (request) => {
    requests.push(`${request.method} ${request.path.split("?")[0]}`);
    return broken(request) ? Promise.reject(new Error("connection refused")) : server.transport(request);
  };
  const logged: string[] = [];
  const log = (fields: object, message: string): void => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const recorder = new EventsV1Recorder({
    client: new Client({ transport, clock }),
    clock,
    random: seededRandom(2),
    component: "scaler",
    host: "node-1",
    logger: { ...silentLogger, warn: log, error: log },
  });
  const stop = new AbortController();
  const done = recorder.run(stop.signal);
  const client = new Client({ transport: server.transport, clock });
  const say = (note: string, details?: EventDetails): void =>
    recorder.event(pod, pods, "Normal", "Scaled", note, details);
  return {
    clock,
    client,
    recorder,
    requests,
    logged,
    say,
    list: async () => (await client.resource(eventsV1).list(place)).items as EventsV1[],
    stop: async () => {
      stop.abort();
      await done;
      await server.close();
    },
  };
}

test("an event has the fields of events.k8s.io/v1, and none of those it deprecates", async () => {
  const { clock, recorder, list, say, stop } = setUp();
  await clock.advance(5);
  say("to 3 replicas", { action: "Scale", related: { object: node, definition: nodes } });
  await recorder.flush();
  const [event] = await list();
  expect(event).toEqual({
    metadata: expect.objectContaining({ name: expect.stringMatching(/^p\.[0-9a-f]{16}$/), namespace: "default" }),
    eventTime: "2026-01-01T00:00:00.005000Z",
    reportingController: "scaler",
    reportingInstance: "scaler-node-1",
    action: "Scale",
    reason: "Scaled",
    regarding: { apiVersion: "v1", kind: "Pod", namespace: "default", name: "p", uid: "u1", resourceVersion: "7" },
    related: { apiVersion: "v1", kind: "Node", name: "n", uid: "u2" },
    note: "to 3 replicas",
    type: "Normal",
    deprecatedSource: {},
    deprecatedFirstTimestamp: null,
    deprecatedLastTimestamp: null,
  });
  await stop();
});

test("clients of core/v1, such as kubectl, see the event with reason and message", async () => {
  const { clock, client, recorder, say, stop } = setUp();
  say("to 3 replicas");
  await clock.advance(1_000);
  say("to 4 replicas");
  await recorder.flush();
  expect((await client.resource(events).list(place)).items).toMatchObject([
    {
      involvedObject: { kind: "Pod", name: "p", uid: "u1" },
      reason: "Scaled",
      message: "to 3 replicas",
      action: "Scaled",
      reportingComponent: "scaler",
      series: { count: 2, lastObservedTime: "2026-01-01T00:00:01.000000Z" },
    },
  ]);
  await stop();
});

test("only the first repetition is written at once; the end of the series is written six minutes after the last", async () => {
  const { clock, recorder, requests, list, say, stop } = setUp();
  for (let index = 0; index < 5; index++) {
    say("again");
    await clock.advance(MINUTE_MS);
  }
  await recorder.flush();
  const name = (await list())[0]!.metadata.name;
  const POST = "POST /apis/events.k8s.io/v1/namespaces/default/events";
  const PATCH = `PATCH /apis/events.k8s.io/v1/namespaces/default/events/${name}`;
  expect(requests).toEqual([POST, PATCH]);
  expect((await list())[0]!.series).toEqual({ count: 2, lastObservedTime: "2026-01-01T00:01:00.000000Z" });
  await clock.advance(12 * MINUTE_MS);
  expect(requests).toEqual([POST, PATCH, PATCH]);
  expect((await list())[0]!.series).toEqual({ count: 5, lastObservedTime: "2026-01-01T00:04:00.000000Z" });
  say("again");
  await recorder.flush();
  expect(requests.slice(3)).toEqual([POST]);
  expect((await list()).map(({ series }) => series?.count)).toEqual([5, undefined]);
  await stop();
});

test("an event that repeats six minutes later is a new one", async () => {
  const { clock, recorder, list, say, stop } = setUp();
  say("earlier", { action: "Other" });
  await clock.advance(4 * MINUTE_MS);
  say("again");
  await clock.advance(6 * MINUTE_MS);
  say("again");
  await recorder.flush();
  expect((await list()).map(({ note, series }) => [note, series])).toEqual([
    ["earlier", undefined],
    ["again", undefined],
    ["again", undefined],
  ]);
  await stop();
});

test("another type, reason, action, regarded or related object makes another event, another note does not", async () => {
  const { recorder, list, say, stop } = setUp();
  say("a");
  say("b");
  say("a", { action: "Other" });
  say("a", { related: { object: node, definition: nodes } });
  recorder.event(pod, pods, "Warning", "Scaled", "a");
  recorder.event(pod, pods, "Normal", "Moved", "a");
  recorder.event(node, nodes, "Normal", "Scaled", "a");
  await recorder.flush();
  const counts = (await list()).map(({ note, series }) => `${note} ${series?.count ?? 1}`);
  expect(counts).toEqual(["a 1", "a 2", "a 1", "a 1", "a 1", "a 1"]);
  await stop();
});

test("a series that goes on is rewritten every half hour, and created again if it has expired", async () => {
  const { clock, client, recorder, list, say, stop } = setUp();
  say("again");
  say("again");
  await recorder.flush();
  const { name } = (await list())[0]!.metadata;
  await client.resource(eventsV1).delete(name!, place);
  for (let minutes = 0; minutes < 40; minutes += 5) {
    say("again");
    await clock.advance(5 * MINUTE_MS);
  }
  const [event, ...others] = await list();
  expect(others).toEqual([]);
  expect(event!.metadata.name).toBe(name);
  expect(event!.series!.count).toBeGreaterThanOrEqual(8);
  await stop();
});

test("an event that cannot be sent is attempted twelve times, ten seconds or a little more apart", async () => {
  const { clock, requests, logged, list, say, stop } = setUp({ broken: () => true });
  say("lost");
  await clock.advance(109_000);
  expect(requests.length).toBeLessThan(12);
  await clock.advance(60_000);
  expect(requests).toHaveLength(12);
  expect(logged).toHaveLength(1);
  expect(logged[0]).toMatch(/^Unable to write event \(retry limit exceeded!\).*connection refused/);
  expect(await list()).toEqual([]);
  await stop();
});

test("a series that cannot be patched at first is patched at the next attempt", async () => {
  let patches = 0;
  const setup = setUp({ broken: ({ method }) => method === "PATCH" && ++patches === 1 });
  const { clock, recorder, requests, list, say, stop } = setup;
  say("again");
  say("again");
  await clock.advance(20_000);
  await recorder.flush();
  expect(requests.map((each) => each.split(" ")[0])).toEqual(["POST", "PATCH", "PATCH"]);
  expect((await list()).map(({ series }) => series?.count)).toEqual([2]);
  await stop();
});

test("what the API server rejects is logged and dropped", async () => {
  const { recorder, logged, list, say, stop } = setUp();
  say("x".repeat(1025));
  say("fine", { action: "Scale" });
  await recorder.flush();
  expect(logged).toHaveLength(1);
  expect(logged[0]).toMatch(/^Server rejected event \(will not retry!\).*can have at most 1024 characters/);
  expect((await list()).map(({ note }) => note)).toEqual(["fine"]);
  await stop();
});

test("a stop writes what was recorded before, and an idle recorder has no timer", async () => {
  const { clock, recorder, list, say, stop } = setUp();
  say("last words");
  await clock.advance(7 * MINUTE_MS);
  // The API server's, for the expiry of the Event.
  expect(clock.nextTimerInMs).toBe(53 * MINUTE_MS);
  recorder.event(pod, pods, "Normal", "Stopped", "at once");
  await stop();
  expect((await list()).map(({ note }) => note)).toEqual(["last words", "at once"]);
});

test("no more than 4096 events are remembered: the oldest one ends early, with its count written", async () => {
  const clock = new SimulatedClock();
  const { transport, requests } = scriptedTransport((request) => stored(request));
  const client = new Client({ transport, clock });
  const recorder = new EventsV1Recorder({ client, clock, random: seededRandom(1), component: "scaler" });
  const stop = new AbortController();
  const done = recorder.run(stop.signal);
  for (let index = 0; index <= 4096; index++) {
    recorder.event(pod, pods, "Normal", `Reason${index}`, "m");
    if (index % 1000 === 999) await recorder.flush();
  }
  await recorder.flush();
  recorder.event(pod, pods, "Normal", "Reason1", "m");
  recorder.event(pod, pods, "Normal", "Reason0", "m");
  await recorder.flush();
  expect(requests.slice(4097).map(({ method }) => method)).toEqual(["PATCH", "POST", "PATCH"]);
  stop.abort();
  await done;
});

test("a series that is gone for the patch and there for the creation is patched again", async () => {
  const clock = new SimulatedClock();
  const { transport, requests } = scriptedTransport((request, index) => {
    if (index === 1) return refusal(404, "NotFound", "gone");
    if (index === 2) return refusal(409, "AlreadyExists", "there again");
    return stored(request);
  });
  const client = new Client({ transport, clock });
  const recorder = new EventsV1Recorder({ client, clock, random: seededRandom(1), component: "scaler" });
  const stop = new AbortController();
  const done = recorder.run(stop.signal);
  for (let index = 0; index < 2; index++) recorder.event(pod, pods, "Normal", "Scaled", "m");
  await clock.advance(20_000);
  expect(requests.map(({ method }) => method)).toEqual(["POST", "PATCH", "POST", "PATCH"]);
  expect(requests[2]!.body).toMatchObject({ reportingInstance: "scaler", series: { count: 2 } });
  stop.abort();
  await done;
});

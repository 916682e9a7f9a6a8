import { type Event, type Job, deepFreeze, jobs, namespaces } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom, silentLogger } from "@kubewright/clock";
import { expect, test } from "vitest";

import { type SentRequest, refusal, scriptedTransport, stored } from "../test/scripted-transport.js";
import { EventRecorder } from "./event-recorder.js";

const START = "2026-01-01T00:00:00Z";
const job: Job = deepFreeze({ metadata: { namespace: "default", name: "pi", uid: "u1", resourceVersion: "7" } });
const EVENTS = "/api/v1/namespaces/default/events";

function setUp(answer: (request: SentRequest, index: number) => unknown = (request) => stored(request)) {
  const clock = new SimulatedClock(START);
  const { transport, requests } = scriptedTransport(answer);
  const logged: string[] = [];
  const counts: unknown[] = [];
  const log = (fields: object, message: string): void => {
    logged.push(message);
    if ("events" in fields) counts.push(fields.events);
  };
  const logger = { ...silentLogger, warn: log, error: log };
  const client = new Client({ transport, clock });
  const recorder = new EventRecorder({ client, clock, random: seededRandom(1), component: "job-controller", logger });
  const stop = new AbortController();
  const say = (message: string): void => recorder.event(job, jobs, "Normal", "SuccessfulCreate", message);
  return { clock, requests, recorder, stop, logged, counts, say, start: () => recorder.run(stop.signal) };
}

const bodies = (requests: readonly SentRequest[]): Event[] => requests.map(({ body }) => body as Event);

test("an event is written with everything upstream writes", async () => {
  const { requests, recorder, stop, say, start } = setUp();
  const done = start();
  say("Created pod: pi-1");
  await recorder.flush();
  expect(requests).toMatchObject([{ method: "POST", path: EVENTS }]);
  const [event] = bodies(requests);
  expect(event).toEqual({
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: expect.stringMatching(/^pi\.[0-9a-f]{16}$/), namespace: "default" },
    involvedObject: {
      apiVersion: "batch/v1",
      kind: "Job",
      namespace: "default",
      name: "pi",
      uid: "u1",
      resourceVersion: "7",
    },
    reason: "SuccessfulCreate",
    message: "Created pod: pi-1",
    source: { component: "job-controller" },
    firstTimestamp: START,
    lastTimestamp: START,
    count: 1,
    type: "Normal",
    reportingComponent: "job-controller",
    reportingInstance: "",
  });
  const nanoseconds = BigInt(`0x${event!.metadata.name!.split(".")[1]}`);
  expect(nanoseconds / 1_000_000n).toBe(BigInt(Date.parse(START)));
  stop.abort();
  await done;
});

test("an event that repeats is patched with just its count, time and message", async () => {
  const { clock, requests, recorder, say, start } = setUp();
  void start();
  say("again");
  await clock.advance(1000);
  say("again");
  await clock.advance(1000);
  say("again");
  await recorder.flush();
  const name = bodies(requests)[0]!.metadata.name;
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    `POST ${EVENTS}`,
    `PATCH ${EVENTS}/${name}`,
    `PATCH ${EVENTS}/${name}`,
  ]);
  expect(requests[1]!.contentType).toBe("application/strategic-merge-patch+json");
  expect(bodies(requests).slice(1)).toEqual([
    { count: 2, lastTimestamp: "2026-01-01T00:00:01Z", message: "again" },
    { count: 3, lastTimestamp: "2026-01-01T00:00:02Z", message: "again" },
  ]);
});

test("a repeated event that has expired on the server is created again with its count", async () => {
  const { requests, recorder, say, start } = setUp((request) =>
    request.method === "PATCH" ? refusal(404, "NotFound", "gone") : stored(request),
  );
  void start();
  say("again");
  say("again");
  await recorder.flush();
  expect(requests.map(({ method }) => method)).toEqual(["POST", "PATCH", "POST"]);
  const [first, , second] = bodies(requests);
  expect(second).toMatchObject({ metadata: { name: first!.metadata.name }, count: 2 });
});

test("events recorded at one instant have different, rising names", async () => {
  const { requests, recorder, say, start } = setUp();
  for (const message of ["a", "b", "c"]) say(message);
  void start();
  await recorder.flush();
  const names = bodies(requests).map(({ metadata }) => metadata.name!);
  expect(new Set(names).size).toBe(3);
  expect([...names].sort()).toEqual(names);
});

test("two recorders about one object at one instant do not share names, and equal seeds give equal ones", () => {
  const name = async (component: string): Promise<string> => {
    const { transport, requests } = scriptedTransport((request) => stored(request));
    const clock = new SimulatedClock(START);
    const recorder = new EventRecorder({
      client: new Client({ transport, clock }),
      clock,
      random: seededRandom(1),
      component,
    });
    recorder.event(job, jobs, "Normal", "Reason", "m");
    await recorder.run(AbortSignal.abort());
    return bodies(requests)[0]!.metadata.name!;
  };
  return Promise.all([name("job-controller"), name("kubelet"), name("job-controller")]).then(
    ([first, second, third]) => {
      expect(first).not.toBe(second);
      expect(first).toBe(third);
    },
  );
});

test("an object without namespace has its events in default; one with an unusable name gives them UUIDs", async () => {
  const { requests, recorder, start } = setUp();
  void start();
  recorder.event({ metadata: { name: "kube-system", uid: "n1" } }, namespaces, "Normal", "Kept", "m");
  recorder.event({ metadata: { name: "UPPER", namespace: "default", uid: "n2" } }, jobs, "Normal", "Kept", "m");
  await recorder.flush();
  const [first, second] = bodies(requests);
  expect(requests[0]!.path).toBe(EVENTS);
  expect(first!.metadata.namespace).toBe("default");
  expect(first!.involvedObject).not.toHaveProperty("namespace");
  expect(second!.metadata.name).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("an unknown type, or an object without name, is logged and not written", async () => {
  const { requests, recorder, logged, stop, start } = setUp();
  recorder.event(job, jobs, "Info" as "Normal", "Reason", "m");
  recorder.event({ metadata: {} }, jobs, "Normal", "Reason", "m");
  stop.abort();
  await start();
  expect(requests).toEqual([]);
  expect(logged).toEqual(["Unsupported event type", "Could not construct reference, will not report event"]);
});

test.each([
  [409, "AlreadyExists", []],
  [403, "Forbidden", ["Server rejected event (will not retry!)"]],
  [429, "TooManyRequests", ["Server rejected event (will not retry!)"]],
  [500, "InternalError", ["Server rejected event (will not retry!)"]],
])("an event refused with %d is dropped, and the next one flows", async (code, reason, expectedLog) => {
  const { requests, recorder, logged, say, start } = setUp((request, index) =>
    index === 0 ? refusal(code, reason, "no") : stored(request),
  );
  void start();
  say("first");
  say("second");
  await recorder.flush();
  expect(bodies(requests).map(({ message }) => message)).toEqual(["first", "second"]);
  expect(logged).toEqual(expectedLog);
});

test("an event that cannot be sent is tried 12 times at most 10 s apart, with those behind it waiting in order", async () => {
  const at: number[] = [];
  const { clock, requests, recorder, logged, say, start } = setUp((request, index) => {
    at.push(clock.monotonic());
    if (index < 12) throw new Error("connection reset");
    return stored(request);
  });
  void start();
  say("first");
  say("second");
  await clock.advance(200_000);
  await recorder.flush();
  expect(bodies(requests).map(({ message }) => message)).toEqual([
    ...Array.from({ length: 12 }, () => "first"),
    "second",
  ]);
  expect(at[1]).toBeLessThan(10_000);
  expect(at.slice(2, 12).map((time, index) => time - at[index + 1]!)).toEqual(Array.from({ length: 10 }, () => 10_000));
  expect(logged).toEqual(["Unable to write event (retry limit exceeded!)"]);
});

test("at most 1000 events wait; recording never blocks", async () => {
  const { requests, logged, recorder, start } = setUp();
  const object = (index: number): Job => ({
    metadata: { namespace: "default", name: `job-${index}`, uid: `u${index}` },
  });
  for (let index = 0; index < 1500; index++) recorder.event(object(index), jobs, "Normal", "Reason", "m");
  expect(logged).toHaveLength(1);
  void start();
  await recorder.flush();
  expect(requests).toHaveLength(1000);
});

test("events dropped from a full queue are counted and logged once a minute", async () => {
  const { clock, logged, counts, recorder, say } = setUp();
  const drop = (times: number): void => {
    for (let i = 0; i < times; i++) say("too many");
  };
  drop(1000);
  expect(logged).toEqual([]);
  drop(932);
  expect(logged).toEqual(["Unable to record event: too many queued events, dropped event"]);
  await clock.advance(59_999);
  drop(1);
  expect(logged).toHaveLength(1);
  await clock.advance(1);
  expect(logged[1]).toBe("Unable to record events: too many queued events, dropped events");
  expect(counts).toEqual([932]);
  drop(2);
  await clock.advance(60_000);
  expect(counts).toEqual([932, 2]);
  await clock.advance(60_000);
  expect([logged.length, clock.pendingTimers]).toEqual([3, 0]);
  drop(1);
  expect(logged).toHaveLength(4);
  drop(5);
  const stopped = new AbortController();
  stopped.abort();
  await recorder.run(stopped.signal);
  expect(counts).toEqual([932, 2, 5]);
});

test("what is queued when the signal aborts is still written", async () => {
  const { clock, requests, stop, say, start } = setUp();
  const done = start();
  await clock.settle();
  say("first");
  say("second");
  stop.abort();
  await done;
  expect(bodies(requests).map(({ message }) => message)).toEqual(["first", "second"]);
  expect(clock.nextTimerInMs).toBeUndefined();
});

test("a stopped recorder gives up on a server that does not answer after 5 s", async () => {
  const { clock, logged, stop, say, start } = setUp(
    ({ signal }) =>
      new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error))),
  );
  let ended = false;
  const done = start().then(() => (ended = true));
  say("first");
  say("second");
  await clock.advance(60_000);
  stop.abort();
  await clock.advance(4_999);
  expect(ended).toBe(false);
  await clock.advance(1);
  await done;
  expect(logged).toEqual([
    "Unable to write event (broadcaster is shut down)",
    "Unable to write events in time, dropped",
  ]);
  say("third");
  expect(logged.at(-1)).toBe("Unable to record event (will not retry!)");
});

test("a stopped recorder does not wait longer for a transport that ignores its signal", async () => {
  const { clock, logged, stop, say, start } = setUp(() => new Promise<never>(() => {}));
  const done = start();
  say("first");
  await clock.advance(1_000);
  stop.abort();
  await clock.advance(5_000);
  await done;
  expect(logged).toEqual(["Unable to write event (broadcaster is shut down)"]);
});

test("stopping ends the pause before a retry", async () => {
  const { clock, logged, stop, say, start } = setUp(() => {
    throw new Error("connection reset");
  });
  const done = start();
  say("first");
  await clock.settle();
  expect(clock.pendingTimers).toBe(1);
  stop.abort();
  await done;
  expect(logged).toEqual(["Unable to write event (broadcaster is shut down)"]);
  expect(clock.nextTimerInMs).toBeUndefined();
});

test("an idle recorder holds no timer", async () => {
  const { clock, recorder, say, start } = setUp();
  void start();
  say("m");
  await recorder.flush();
  await clock.settle();
  expect(clock.nextTimerInMs).toBeUndefined();
});

test("a recorder runs once; used after its end it drops, logs, and neither throws nor hangs", async () => {
  const { requests, recorder, stop, logged, say, start } = setUp();
  const done = start();
  await expect(start()).rejects.toThrow("was run already: make a new recorder");
  stop.abort();
  await done;
  say("too late");
  await recorder.flush();
  expect(logged).toEqual(["Unable to record event (will not retry!)"]);
  expect(requests).toEqual([]);
});

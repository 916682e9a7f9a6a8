import { type Pod, events, pods } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { type Cluster, createCluster } from "@kubewright/cluster";
import type { TraceRecord } from "@kubewright/analysis/trace";
import { afterEach, beforeEach, expect, test } from "vitest";

import type { LiveStatus } from "./live-status.js";
import { LiveTrace } from "./live-trace.js";

const MAX_RECORDS = 300;

let clock: SimulatedClock;
let cluster: Cluster;
let trace: LiveTrace;
let stop: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  clock = new SimulatedClock(Date.UTC(2026, 0, 1));
  trace = new LiveTrace({ clock, real: clock, speed: "manual", life: "one", maxRecords: MAX_RECORDS });
  cluster = createCluster({ clock, random: seededRandom(1), onDecision: (decision) => trace.decision(decision) });
  stop = new AbortController();
  running = cluster.run(stop.signal);
  await clock.settle();
});
afterEach(async () => {
  stop.abort();
  await clock.settle();
  await running;
});

async function request(query: string, signal?: AbortSignal): Promise<{ status: LiveStatus; records: TraceRecord[] }> {
  const path = `/_kubewright/trace${query}`;
  const answer = trace.serve(
    { method: "GET", path, headers: {}, ...(signal === undefined ? {} : { signal }) },
    cluster,
  );
  await clock.settle();
  const [status, ...records] = (await answer).text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
  return { status: status as LiveStatus, records: records as TraceRecord[] };
}

const pod = (name: string): Pod => ({
  metadata: { name, namespace: "default" },
  spec: { containers: [{ name: "c", image: "busybox" }] },
});

test("objects that exist when the recording starts come first, with their creation times", async () => {
  await cluster.client("test").resource(pods).create(pod("early"));
  await clock.advance(3_600_000);
  const first = await request("");
  expect(first.status).toEqual({
    type: "status",
    life: "one",
    first: 0,
    now: "2026-01-01T01:00:00.000Z",
    since: "2026-01-01T01:00:00.000Z",
    speed: "manual",
  });
  await clock.settle();
  const { records } = await request("?after=0&life=one");
  expect(records.find(({ type }) => type === "object")).toMatchObject({
    name: "early",
    change: "ADDED",
    createdAt: "2026-01-01T00:00:00Z",
  });
});

test("a client that requests the next number gets each record once, and waits for it", async () => {
  await request("");
  const pending = trace.serve({ method: "GET", path: "/_kubewright/trace?after=0&life=one", headers: {} }, cluster);
  await cluster.client("test").resource(pods).create(pod("a"));
  await clock.settle();
  const lines = (await pending).text.trimEnd().split("\n");
  expect(lines.length).toBeGreaterThan(1);
  await clock.advance(60_000);
  const { status, records } = await request(`?after=${lines.length - 1}&life=one`);
  expect(status.first).toBe(lines.length - 1);
  const seen = new Set(lines.slice(1));
  expect(records.length).toBeGreaterThan(0);
  expect(records.some((record) => seen.has(JSON.stringify(record)))).toBe(false);
});

test("waiting ends after the timeout, and when the client disconnects", async () => {
  await request("");
  const { status } = await request("?after=0&life=one", AbortSignal.abort()).catch(() => ({ status: undefined }));
  expect(status?.first).toBe(0);
  const pending = trace.serve({ method: "GET", path: "/_kubewright/trace?after=0&life=one", headers: {} }, cluster);
  await clock.advance(15_000);
  expect((await pending).text.trimEnd().split("\n")).toHaveLength(1);
});

test("numbers of another life start at 0, without waiting", async () => {
  await request("");
  await cluster.client("test").resource(pods).create(pod("a"));
  await clock.settle();
  const { status, records } = await request("?after=99999&life=two");
  expect(status).toMatchObject({ life: "one", first: 0 });
  expect(records.length).toBeGreaterThan(0);
});

test("only the latest records are stored, and a response has the number of its first record", async () => {
  await request("");
  for (let round = 0; round < 12; round++) {
    for (let index = 0; index < 10; index++)
      await cluster
        .client("test")
        .resource(pods)
        .create(pod(`p${round}-${index}`));
    await clock.advance(60_000);
  }
  const { status, records } = await request("?after=0&life=one");
  expect(status.first).toBeGreaterThan(0);
  expect(records.length).toBeGreaterThanOrEqual(MAX_RECORDS);
  expect(records.length).toBeLessThan(MAX_RECORDS * 1.1);
  const { status: latest, records: rest } = await request(`?after=${status.first + records.length - 1}&life=one`);
  expect([latest.first, rest]).toEqual([status.first + records.length - 1, records.slice(-1)]);
});

test("long records are stored up to a number of characters", async () => {
  const long = new LiveTrace({ clock, real: clock, speed: "manual", life: "long", maxCharacters: 100_000 });
  const request = { method: "GET", path: "/_kubewright/trace", headers: {} } as const;
  await long.serve(request, cluster);
  await clock.settle();
  const client = cluster.client("test").resource(events);
  for (let index = 0; index < 300; index++)
    await client.create({
      metadata: { name: `e${index}`, namespace: "default" },
      involvedObject: { kind: "Pod", namespace: "default", name: "a" },
      message: "x".repeat(1000),
    });
  await clock.settle();
  const { text } = await long.serve(request, cluster);
  expect((JSON.parse(text.split("\n", 1)[0]!) as LiveStatus).first).toBeGreaterThan(0);
  expect(text.length).toBeGreaterThan(90_000);
  expect(text.length).toBeLessThan(112_000);
});

test("only GET is answered", async () => {
  const answer = await trace.serve({ method: "POST", path: "/_kubewright/trace", headers: {} }, cluster);
  expect(answer.status).toBe(405);
});

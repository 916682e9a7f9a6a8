import { NEWEST_VERSION, type ResourceDefinition, jobs, namespaces, pods } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { type Bucket, bucketOf } from "@kubewright/sharding";
import type { Transport } from "@kubewright/transport";
import { describe, expect, test } from "vitest";

import { SimulatedManagers, isWrite, messages } from "../../test/simulated-managers.js";
import type { ControllerManagerOptions } from "../options.js";

const SHARDED: Partial<ControllerManagerOptions> = { sharding: "namespaces", takeOver: true };
const NAMESPACES = Array.from({ length: 40 }, (_, index) => `team-${index}`);

async function create(gates = {}, names: readonly string[] = NAMESPACES): Promise<SimulatedManagers> {
  const world = await SimulatedManagers.create(NEWEST_VERSION, gates);
  for (const name of names) await world.client.resource(namespaces).create({ metadata: { name } });
  return world;
}

/** Plays the kubelet once: all pods have succeeded. */
async function endPods(world: SimulatedManagers): Promise<void> {
  const client = world.client.resource(pods);
  for (const { metadata, status } of (await client.list()).items) {
    if (status?.phase === "Succeeded") continue;
    const terminated = { exitCode: 0, finishedAt: "2026-01-01T00:01:00Z" };
    const containerStatuses = [
      { name: "main", image: "i", imageID: "", ready: false, restartCount: 0, state: { terminated } },
    ];
    const body = { status: { phase: "Succeeded", containerStatuses } };
    await client.patch(
      metadata.name!,
      { type: "merge", body },
      { namespace: metadata.namespace, subresource: "status" },
    );
  }
}

async function counts(world: SimulatedManagers): Promise<string[]> {
  const { items } = await world.client.resource(jobs).list();
  return items.map(({ status }) => `${status?.succeeded ?? 0} of 2`);
}

const namespaceIn = (path: string): string => /\/namespaces\/([^/]+)\//.exec(path)?.[1] ?? "";

describe("two replicas with --sharding namespaces", () => {
  test("do the Jobs of all namespaces, each those of its own, and namespaces made later too", async () => {
    const world = await create();
    const replicas = [world.start(SHARDED), world.start(SHARDED)];
    await world.clock.advance(60_000);
    for (const namespace of NAMESPACES) await world.createJob("pi", { namespace });
    for (const name of ["later-1", "later-2", "later-3"]) {
      await world.client.resource(namespaces).create({ metadata: { name } });
      await world.createJob("pi", { namespace: name });
    }
    await world.clock.advance(10_000);
    expect(await world.countPods()).toBe(2 * (NAMESPACES.length + 3));
    await endPods(world);
    await world.clock.advance(10_000);
    expect(new Set(await counts(world))).toEqual(new Set(["2 of 2"]));
    const writers = replicas.map(
      ({ requests }) =>
        new Set<Bucket>(
          requests
            .filter((request) => isWrite(request) && /\/(pods|jobs)/.test(request.path))
            .map(({ path }) => bucketOf(namespaceIn(path))),
        ),
    );
    expect([...writers[0]!].filter((bucket) => writers[1]!.has(bucket))).toEqual([]);
    expect(Math.min(writers[0]!.size, writers[1]!.size)).toBeGreaterThan(5);
    for (const replica of replicas) replica.stop();
    await world.clock.advance(20_000);
    expect(replicas.map(({ state }) => state())).toEqual(["stopped", "stopped"]);
    expect(await world.leaseHolder()).toBe("");
    expect(replicas.flatMap(({ lines }) => lines.filter(({ level }) => level === "error"))).toEqual([]);
  });

  test("hand over what they have in the middle of Jobs, and count each pod once", async () => {
    const world = await create();
    const first = world.start(SHARDED);
    await world.clock.advance(60_000);
    for (const namespace of NAMESPACES) await world.createJob("pi", { namespace });
    await world.clock.advance(1_500);
    const second = world.start(SHARDED);
    await world.clock.advance(45_000);
    await endPods(world);
    await world.clock.advance(500);
    first.stop();
    await world.clock.advance(15_000);
    expect([first.state(), second.state()]).toEqual(["stopped", "running"]);
    expect(await world.countPods()).toBe(2 * NAMESPACES.length);
    expect(new Set(await counts(world))).toEqual(new Set(["2 of 2"]));
    second.stop();
    await world.clock.advance(20_000);
  });
});

describe("managers that share and managers that do not", () => {
  test("replicas wait while another manager leads, and take over when it has stopped", async () => {
    const world = await create();
    const leader = world.start({ takeOver: true });
    await world.clock.advance(5_000);
    const replica = world.start(SHARDED);
    await world.clock.advance(60_000);
    await world.createJob("pi", { namespace: "team-1" });
    await world.clock.advance(5_000);
    expect(replica.requests.filter((request) => isWrite(request) && request.path.includes("/team-1/"))).toEqual([]);
    expect(messages(replica.lines)).toContain("info Waiting for a manager without --sharding to stop");
    leader.stop();
    await world.clock.advance(60_000);
    await world.createJob("pi", { namespace: "team-2" });
    await world.clock.advance(5_000);
    expect(await world.countPods()).toBe(4);
    expect(await world.leaseHolder()).toMatch(/^host-/);
    replica.stop();
    await world.clock.advance(20_000);
  });

  test.each([
    ["stands by, as the replicas hold its Lease", { takeOver: true }, "running", 60_000],
    [
      "without leader election refuses to start",
      { takeOver: true, leaderElect: false },
      "replicas that share the work are running",
      5_000,
    ],
  ])("a manager without --sharding %s", async (_, options, state, afterMs) => {
    const world = await create();
    const replica = world.start(SHARDED);
    await world.clock.advance(60_000);
    const other = world.start(options);
    await world.clock.advance(afterMs);
    expect(other.state()).toContain(state);
    expect(other.requests.filter((request) => isWrite(request) && request.path.includes("/pods"))).toEqual([]);
    other.stop();
    replica.stop();
    await world.clock.advance(20_000);
  });

  test("one that gets the Lease all the same sees the replicas and ends", async () => {
    const world = await create();
    const replica = world.start({ ...SHARDED, controllers: [""] });
    await world.clock.advance(10_000);
    // Before anybody has the bucket of the cluster.
    const other = world.start({ takeOver: true });
    await world.clock.advance(2_000);
    expect(other.state()).toContain("replicas that share the work are running");
    replica.stop();
    await world.clock.advance(30_000);
  });
});

test("ended pods of the whole cluster are counted together, and the oldest go beyond the threshold", async () => {
  const world = await create();
  const options = { ...SHARDED, terminatedPodGcThreshold: 10, controllers: ["podgc"] };
  const replicas = [world.start(options), world.start(options)];
  await world.clock.advance(60_000);
  const client = world.client.resource(pods);
  for (const [index, namespace] of NAMESPACES.slice(0, 14).entries()) {
    const spec = { containers: [{ name: "main", image: "busybox" }] };
    await client.create({ metadata: { name: `pod-${index}`, namespace }, spec });
    await world.clock.advance(1_000);
  }
  await world.clock.advance(60_000);
  expect(await world.countPods()).toBe(14);
  await endPods(world);
  await world.clock.advance(60_000);
  const left = (await client.list()).items.map(({ metadata }) => metadata.name);
  expect(new Set(left)).toEqual(new Set(Array.from({ length: 10 }, (_, index) => `pod-${index + 4}`)));
  for (const replica of replicas) replica.stop();
  await world.clock.advance(20_000);
});

/** Counts the bytes of the watches of what controllers work for, as JSON. */
function metered(meter: { bytes: number }) {
  return (transport: Transport): Transport =>
    async (request) => {
      const response = await transport(request);
      if (!/\/(pods|jobs|cronjobs)\?.*watch=/.test(request.path) || response.body.type !== "events") return response;
      const { events } = response.body;
      const counted = async function* (): AsyncGenerator<unknown, void> {
        for await (const event of events) {
          meter.bytes += JSON.stringify(event).length + 1;
          yield event;
        }
      };
      return { ...response, body: { type: "events", events: counted() } };
    };
}

test.each([
  ["a server that filters shards: at most 30 %", { ShardedListAndWatch: true }, 200, 0.2, 0.3],
  ["a server that does not: all of them", {}, 40, 0.99, 1.01],
])("of the bytes of watches each of four replicas gets, of %s", async (_, gates, count, least, most) => {
  const names = Array.from({ length: count }, (__, index) => `team-${index}`);
  const world = await create(gates, names);
  const meters = Array.from({ length: 4 }, () => ({ bytes: 0 }));
  const options = { ...SHARDED, controllers: ["*", "-garbagecollector"] };
  const replicas = meters.map((meter) => world.start(options, { wrap: metered(meter) }));
  await world.clock.advance(60_000);
  for (const meter of meters) meter.bytes = 0;
  const whole = { bytes: 0 };
  const stop = new AbortController();
  const watching = [pods, jobs].map(async (resource: ResourceDefinition) => {
    const client = new Client({ transport: metered(whole)(world.server.transport), clock: world.clock });
    const watch = await client
      .resource(resource)
      .watch({ signal: stop.signal, resourceVersion: world.server.resourceVersion });
    try {
      for await (const __ of watch);
    } catch {
      // It was stopped.
    }
  });
  for (const namespace of names) await world.createJob("pi", { namespace });
  await world.clock.advance(10_000);
  await endPods(world);
  await world.clock.advance(10_000);
  stop.abort();
  await world.clock.advance(1);
  await Promise.all(watching);
  const parts = meters.map(({ bytes }) => bytes / whole.bytes);
  expect(Math.min(...parts)).toBeGreaterThanOrEqual(least);
  expect(Math.max(...parts)).toBeLessThanOrEqual(most);
  for (const replica of replicas) replica.stop();
  await world.clock.advance(20_000);
});

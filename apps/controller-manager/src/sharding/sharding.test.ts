import {
  type KubernetesObject,
  NEWEST_VERSION,
  type ResourceDefinition,
  cronJobs,
  getControllerOf,
  jobs,
  namespaces,
  pods,
} from "@kubewright/api";
import { Client } from "@kubewright/client";
import { type Bucket, bucketOf } from "@kubewright/sharding";
import type { Transport } from "@kubewright/transport";
import { describe, expect, test } from "vitest";

import { type SimulatedManager, SimulatedManagers, isWrite, messages } from "../../test/simulated-managers.js";
import type { ControllerManagerOptions } from "../options.js";

const SHARDED: Partial<ControllerManagerOptions> = { sharding: "namespaces", takeOver: true };
const NAMESPACES = Array.from({ length: 40 }, (_, index) => `team-${index}`);

async function create(gates = {}, names: readonly string[] = NAMESPACES): Promise<SimulatedManagers> {
  const world = await SimulatedManagers.create(NEWEST_VERSION, gates);
  for (const name of names) await world.client.resource(namespaces).create({ metadata: { name } });
  return world;
}

/** Simulates the kubelet once: all pods succeed. */
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

describe("a namespace that is split", () => {
  const SPLIT = { ...SHARDED, shardingSplitNamespaces: ["batch=4"] };
  const NAMES = Array.from({ length: 40 }, (_, index) => `job-${index}`);
  const OTHERS = NAMESPACES.slice(0, 10);

  /** For each Job of `batch`, the replicas that created its pods, or wrote their finalizers or the Job's status. */
  function writersOf(replicas: readonly SimulatedManager[]): Map<string, Set<number>> {
    const writers = new Map<string, Set<number>>();
    for (const [index, { requests }] of replicas.entries())
      for (const request of requests) {
        const job = isWrite(request) && request.path.includes("/namespaces/batch/") ? jobWritten(request) : undefined;
        if (job !== undefined) writers.set(job, (writers.get(job) ?? new Set()).add(index));
      }
    return writers;
  }

  function jobWritten({ method, path, body }: SimulatedManager["requests"][number]): string | undefined {
    const [, name] = /\/jobs\/([^/?]+)\/status/.exec(path) ?? [];
    if (name !== undefined) return name;
    if (method === "PATCH") return /\/pods\/(.+)-[^-]+$/.exec(path.replace(/\?.*/, ""))?.[1];
    if (method !== "POST" || !/\/pods(\?|$)/.test(path) || body?.type !== "decoded") return undefined;
    return getControllerOf(body.value as KubernetesObject)?.name;
  }

  async function createCronJob(world: SimulatedManagers, namespace: string): Promise<void> {
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] } };
    const spec = { schedule: "* * * * *", jobTemplate: { spec: { completions: 2, parallelism: 2, template } } };
    await world.client.resource(cronJobs).create({ metadata: { name: "tick", namespace }, spec });
  }

  test("is handled by several replicas, each Job by one of them, and everything not split by one replica", async () => {
    const world = await create({}, ["batch", ...OTHERS]);
    const replicas = [world.start(SPLIT), world.start(SPLIT), world.start(SPLIT)];
    await world.clock.advance(60_000);
    for (const name of NAMES) await world.createJob(name, { namespace: "batch" });
    for (const namespace of OTHERS) await world.createJob("pi", { namespace });
    for (const namespace of ["batch", OTHERS[0]!]) await createCronJob(world, namespace);
    await world.clock.advance(150_000);
    await endPods(world);
    await world.clock.advance(10_000);
    const ticks = (await world.client.resource(jobs).list()).items.filter(({ metadata }) =>
      metadata.name!.startsWith("tick-"),
    );
    expect(ticks.length).toBeGreaterThanOrEqual(4);
    expect(new Set(await counts(world))).toEqual(new Set(["2 of 2"]));
    expect(await world.countPods()).toBe(2 * (NAMES.length + OTHERS.length + ticks.length));
    const writers = writersOf(replicas);
    for (const name of NAMES) expect([name, writers.get(name)?.size]).toEqual([name, 1]);
    expect(new Set([...writers.values()].flatMap((each) => [...each]))).toEqual(new Set([0, 1, 2]));
    const makers = replicas.filter(({ requests }) =>
      requests.some(({ method, path }) => method === "POST" && /\/namespaces\/batch\/jobs(\?|$)/.test(path)),
    );
    expect(makers).toHaveLength(1);
    for (const replica of replicas) replica.stop();
    await world.clock.advance(20_000);
    expect(replicas.map(({ state }) => state())).toEqual(["stopped", "stopped", "stopped"]);
    expect(replicas.flatMap(({ lines }) => lines.filter(({ level }) => level === "error"))).toEqual([]);
  });

  test("is handed over in the middle of Jobs, part by part, and each pod is counted once", async () => {
    const world = await create({}, ["batch", ...OTHERS]);
    const replicas = [world.start(SPLIT), world.start(SPLIT), world.start(SPLIT)];
    await world.clock.advance(60_000);
    for (const name of NAMES) await world.createJob(name, { namespace: "batch" });
    await world.clock.advance(700);
    replicas[0]!.stop();
    replicas.push(world.start(SPLIT));
    await world.clock.advance(15_000);
    await endPods(world);
    await world.clock.advance(400);
    replicas[1]!.stop();
    await world.clock.advance(60_000);
    expect(await world.countPods()).toBe(2 * NAMES.length);
    expect(new Set(await counts(world))).toEqual(new Set(["2 of 2"]));
    for (const name of NAMES) await world.createJob(`${name}-again`, { namespace: "batch" });
    await world.clock.advance(5_000);
    const again = [...writersOf(replicas)].filter(([name]) => name.endsWith("-again"));
    expect(new Set(again.flatMap(([, writers]) => [...writers]))).toEqual(new Set([2, 3]));
    expect(await world.countPods()).toBe(4 * NAMES.length);
    for (const replica of replicas) replica.stop();
    await world.clock.advance(20_000);
  });

  test("needs all replicas to split it alike: another takes no part, and has its way when the others have stopped", async () => {
    const world = await create({}, ["batch"]);
    const replicas = [world.start(SPLIT), world.start(SPLIT)];
    await world.clock.advance(60_000);
    const other = world.start({ ...SHARDED, shardingSplitNamespaces: ["batch=2", "team=3"] });
    await world.clock.advance(60_000);
    for (const name of NAMES) await world.createJob(name, { namespace: "batch" });
    await world.clock.advance(5_000);
    const problems = other.lines.filter(({ message }) => message === "Not taking part");
    expect(problems.map(({ fields }) => fields["err"])).toEqual([
      "the assignment has split batch=4, this member batch=2,team=3: start it with the same splits, or stop all that have the others first",
    ]);
    expect(messages(other.lines)).not.toContain("info Waiting for a manager without --sharding to stop");
    expect(writersOf([other]).size).toBe(0);
    expect(await world.countPods()).toBe(2 * NAMES.length);
    for (const replica of replicas) replica.stop();
    await world.clock.advance(20_000);
    await endPods(world);
    await world.clock.advance(10_000);
    expect(messages(other.lines)).toContain("info Changed which namespaces are split");
    expect(new Set(await counts(world))).toEqual(new Set(["2 of 2"]));
    expect(writersOf([other]).size).toBe(NAMES.length);
    other.stop();
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
    // Before any member owns the cluster bucket.
    const other = world.start({ takeOver: true });
    await world.clock.advance(2_000);
    expect(other.state()).toContain("replicas that share the work are running");
    replica.stop();
    await world.clock.advance(30_000);
  });
});

/** An API server that stops answering for a while. Requests that were not aborted meanwhile are answered afterwards. */
class StallingServer {
  readonly #world: SimulatedManagers;
  #stall: PromiseWithResolvers<void> | undefined;

  constructor(world: SimulatedManagers) {
    this.#world = world;
  }

  readonly wrap =
    (transport: Transport): Transport =>
    async (request) => {
      const { signal } = request;
      const aborted = new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
      await Promise.race([this.#stall?.promise, aborted]);
      signal?.throwIfAborted();
      return transport(request);
    };

  async stall(forMs: number): Promise<void> {
    this.#stall = Promise.withResolvers();
    await this.#world.clock.advance(forMs);
    this.#stall.resolve();
    this.#stall = undefined;
  }
}

describe("an API server that stalls for 13 s, longer than a leader may lead without renewing", () => {
  /** How often replicas became active for bucket `cluster`. */
  const countActivations = (replicas: readonly SimulatedManager[]): number =>
    replicas
      .flatMap(({ lines }) => lines)
      .filter(({ message, fields }) => message === "Working for a bucket" && fields["bucket"] === "cluster").length;

  test("leaves bucket `cluster` without an owner for seconds, with one replica", async () => {
    const world = await create();
    const server = new StallingServer(world);
    const replica = world.start(SHARDED, server);
    await world.clock.advance(60_000);
    await server.stall(13_000);
    expect(countActivations([replica])).toBe(1);
    await world.clock.advance(60_000);
    expect(countActivations([replica])).toBe(2);
    expect(messages(replica.lines)).not.toContain("error Released a bucket that failed");
    replica.stop();
    await world.clock.advance(20_000);
  });

  test("leaves it without an owner for seconds after each of two stalls, with two replicas", async () => {
    const world = await create();
    const server = new StallingServer(world);
    const replicas = [world.start(SHARDED, server), world.start(SHARDED, server)];
    await world.clock.advance(60_000);
    for (let stalls = 0; stalls < 2; stalls++) {
      await server.stall(13_000);
      await world.clock.advance(60_000);
      expect(countActivations(replicas)).toBe(2 + stalls);
    }
    for (const replica of replicas) replica.stop();
    await world.clock.advance(20_000);
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

/** Counts the bytes of the watches of Pods, Jobs and CronJobs, as JSON. */
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
      // The watch was stopped.
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

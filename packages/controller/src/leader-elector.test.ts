import type { Lease } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { type Clock, SimulatedClock, seededRandom, silentLogger } from "@kubewright/clock";
import { expect, test } from "vitest";

import { type SentRequest, refusal, scriptedTransport } from "../test/scripted-transport.js";
import { LeaderElector, type LeaderElectorOptions } from "./leader-elector.js";
import { NotLeaderError, leaderFence } from "./leader-fence.js";
import { StopTimeoutError } from "./stop-deadline.js";

/** A minimal API server for one Lease: optimistic concurrency, and a network that can be cut per candidate. */
class LeaseServer {
  lease: Lease | undefined;
  writes: string[] = [];
  cut = new Set<string>();
  #version = 0;

  answer(identity: string, { method, body, signal }: SentRequest): unknown {
    if (this.cut.has(identity)) {
      return new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error)));
    }
    if (method === "POST") {
      if (this.lease !== undefined) return refusal(409, "AlreadyExists", "exists");
      return this.write(identity, body as Lease);
    }
    if (this.lease === undefined) return refusal(404, "NotFound", "no lease");
    if (method === "GET") return this.lease;
    if ((body as Lease).metadata.resourceVersion !== this.lease.metadata.resourceVersion)
      return refusal(409, "Conflict", "modified");
    return this.write(identity, body as Lease);
  }

  write(identity: string, lease: Lease): Lease {
    this.writes.push(identity);
    this.lease = Object.freeze({ ...lease, metadata: { ...lease.metadata, resourceVersion: String(++this.#version) } });
    return this.lease;
  }

  /** Writes the Lease as another client. */
  set(spec: NonNullable<Lease["spec"]>, metadata: Lease["metadata"] = {}): void {
    this.write("somebody", {
      metadata: { namespace: "kube-system", name: "cm", ...this.lease?.metadata, ...metadata },
      spec,
    });
  }
}

class World {
  readonly clock = new SimulatedClock("2026-01-01T00:00:00Z");
  readonly server = new LeaseServer();
  readonly log: string[] = [];

  candidate(
    identity: string,
    options: Partial<LeaderElectorOptions> & { work?: (signal: AbortSignal) => Promise<void> } = {},
  ) {
    const { work, ...rest } = options;
    const clock = rest.clock ?? this.clock;
    const { transport } = scriptedTransport((request) => this.server.answer(identity, request));
    const say = (what: string): void => void this.log.push(`${this.clock.monotonic() / 1000}s ${identity} ${what}`);
    const stop = new AbortController();
    const slowPaths: string[] = [];
    const status: boolean[] = [];
    const elector = new LeaderElector({
      client: new Client({ transport, clock }),
      random: { ...seededRandom(1), next: () => 0, uint32: () => 0, fork: () => ({ next: () => 0 }) as never },
      namespace: "kube-system",
      name: "cm",
      identity,
      callbacks: {
        onStartedLeading: (signal) => {
          say("started");
          return work?.(signal);
        },
        onStoppedLeading: () => say("stopped"),
      },
      events: {
        event: (object, { kind }, type, reason, message) =>
          say(`event ${kind}/${object.metadata.name} ${type} ${reason}: ${message}`),
      },
      metrics: { setLeading: (_name, leading) => status.push(leading), countSlowPath: (name) => slowPaths.push(name) },
      logger: silentLogger,
      ...rest,
      clock,
    });
    // Most tests lose leadership on purpose, so this error is ignored.
    const run = (): Promise<void> =>
      elector.run(stop.signal).catch((error: Error) => {
        if (!error.message.startsWith("failed to renew lease")) throw error;
      });
    return { elector, stop, slowPaths, status, run };
  }
}

test("a candidate that finds no Lease creates it and leads", async () => {
  const world = new World();
  const leaders: string[] = [];
  const a = world.candidate("a");
  const b = world.candidate("b", {
    callbacks: {
      onStartedLeading: () => undefined,
      onStoppedLeading: () => undefined,
      onNewLeader: (identity) => leaders.push(identity),
    },
  });
  void a.run();
  void b.run();
  await world.clock.advance(1000);
  expect(world.log).toEqual(["0s a event Lease/cm Normal LeaderElection: a became leader", "0s a started"]);
  expect(world.server.lease?.spec).toEqual({
    holderIdentity: "a",
    leaseDurationSeconds: 15,
    acquireTime: "2026-01-01T00:00:00.000000Z",
    renewTime: "2026-01-01T00:00:00.000000Z",
    leaseTransitions: 0,
  });
  await world.clock.advance(2000);
  expect(leaders).toEqual(["a"]);
  expect(a.status).toEqual([false, true]);
  expect(a.elector.mayActAsLeader).toBe(true);
  expect(b.elector.mayActAsLeader).toBe(false);
});

test("the leader renews every two seconds, keeping when it acquired the lease", async () => {
  const world = new World();
  void world.candidate("a").run();
  await world.clock.advance(60_000);
  // As upstream, the first renewal follows directly after acquiring.
  expect(world.server.writes).toHaveLength(32);
  expect(world.server.lease?.spec).toMatchObject({
    acquireTime: "2026-01-01T00:00:00.000000Z",
    renewTime: "2026-01-01T00:01:00.000000Z",
    leaseTransitions: 0,
  });
});

test("a standby never acquires while the leader renews, and takes over 15 s after the last renewal it saw", async () => {
  const world = new World();
  const a = world.candidate("a");
  void a.run();
  await world.clock.advance(100);
  const b = world.candidate("b");
  void b.run();
  await world.clock.advance(600_000);
  expect(world.server.lease?.spec?.holderIdentity).toBe("a");
  const renewedAt = Math.floor(world.clock.monotonic() / 2000) * 2;
  world.server.cut.add("a");
  await world.clock.advance(30_000);
  const started = world.log.find((line) => line.endsWith("b started"))!;
  const seconds = Number.parseFloat(started);
  expect(seconds - renewedAt).toBeGreaterThanOrEqual(15);
  expect(seconds - renewedAt).toBeLessThan(19.4);
  expect(world.server.lease?.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
});

test("a leader that cannot reach the server stops 12 s after its last renewal, before another candidate may begin", async () => {
  const world = new World();
  const a = world.candidate("a");
  const b = world.candidate("b");
  void a.run();
  void b.run();
  await world.clock.advance(4_500);
  world.server.cut.add("a");
  world.log.length = 0;
  await world.clock.advance(30_000);
  expect(world.log).toEqual([
    "16s a event Lease/cm Normal LeaderElection: a stopped leading",
    "16s a stopped",
    // b polled at 4 s, before that renewal, observed it at 6 s, and waited 15 s.
    "21s b event Lease/cm Normal LeaderElection: b became leader",
    "21s b started",
  ]);
  expect(a.status).toEqual([false, true, false]);
});

test("run keeps the process alive, and rejects when leadership is lost, not when it is stopped", async () => {
  const world = new World();
  const [a, b] = [world.candidate("a"), world.candidate("b")];
  const leading = a.elector.run(a.stop.signal);
  const waiting = b.elector.run(b.stop.signal);
  await world.clock.advance(4_500);
  expect(world.clock.keepAliveCount).toBe(2);
  world.server.cut.add("a");
  const failure = leading.catch((error: Error) => error.message);
  await world.clock.advance(11_500);
  expect(await failure).toBe("failed to renew lease kube-system/cm: timed out waiting for the condition");
  expect(world.clock.keepAliveCount).toBe(1);
  b.stop.abort();
  await waiting;
  expect(world.clock.keepAliveCount).toBe(0);
});

test("work that never ends is left behind after 60 s: run rejects, and the lease is not given away", async () => {
  const world = new World();
  const logged: string[] = [];
  const a = world.candidate("a", {
    releaseOnCancel: true,
    work: () => new Promise<never>(() => {}),
    logger: { ...silentLogger, error: (fields) => logged.push((fields as { err: string }).err) },
  });
  const done = a.run();
  await world.clock.advance(1_000);
  a.stop.abort();
  await world.clock.advance(59_999);
  expect(world.log.at(-1)).toBe("0s a started");
  const message = "leader election kube-system/cm: the leader's work did not end within 60 s of the stop signal";
  const failure = done.catch((error: Error) => error.message);
  await world.clock.advance(1);
  expect(await failure).toBe(message);
  expect(logged).toEqual([message]);
  expect(world.log.at(-1)).toBe("61s a stopped");
  expect(world.server.lease?.spec?.holderIdentity).toBe("a");
  expect(world.clock.nextTimerInMs).toBeUndefined();
});

test("work that left something behind keeps its lease from being given away; how else it fails to stop is only logged", async () => {
  const outcome = async (failure: Error) => {
    const world = new World();
    const logged: string[] = [];
    const a = world.candidate("a", {
      releaseOnCancel: true,
      work: async (signal) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        throw failure;
      },
      logger: { ...silentLogger, error: (fields) => logged.push((fields as { err: string }).err) },
    });
    const done = a.run().then(
      () => "resolved",
      (error: Error) => error.message,
    );
    await world.clock.advance(1_000);
    a.stop.abort();
    return { ended: await done, logged, holder: world.server.lease?.spec?.holderIdentity };
  };
  expect(await outcome(new StopTimeoutError("one key is left"))).toEqual({
    ended: "one key is left",
    logged: ["one key is left"],
    holder: "a",
  });
  expect(await outcome(new Error("no disk"))).toEqual({ ended: "resolved", logged: ["no disk"], holder: "" });
});

test("leadership that was lost does not wait for ever for the work to end either", async () => {
  const world = new World();
  const a = world.candidate("a", { work: () => new Promise<never>(() => {}), stopTimeoutMs: 5_000 });
  const done = a.elector.run(a.stop.signal);
  await world.clock.advance(4_500);
  world.server.cut.add("a");
  await world.clock.advance(11_500);
  expect(world.log.at(-1)).toBe("16s a stopped");
  const failure = done.catch((error: Error) => error.message);
  await world.clock.advance(5_000);
  expect(await failure).toContain("the leader's work did not end within 5 s");
});

test("callbacks whose promise rejects, or never settles, are logged and hold nothing up", async () => {
  const world = new World();
  const logged: string[] = [];
  const a = world.candidate("a", {
    callbacks: {
      onStartedLeading: () => undefined,
      onStoppedLeading: () => Promise.reject(new Error("no pager")) as unknown as void,
      onNewLeader: () => new Promise<never>(() => {}) as unknown as void,
    },
    logger: {
      ...silentLogger,
      error: (fields, message) => logged.push(`${message}: ${(fields as { err: string }).err}`),
    },
  });
  const done = a.run();
  await world.clock.advance(1_000);
  a.stop.abort();
  await done;
  expect(logged).toEqual(["onStoppedLeading failed: no pager"]);
});

test("there are never two leaders, however the network breaks", async () => {
  const world = new World();
  const random = seededRandom(7);
  const working = new Set<string>();
  let maxLeaders = 0;
  let terms = 0;
  const rounds = async (identity: string): Promise<void> => {
    for (let run = 0; run < 1000; run++) {
      const { run: start } = world.candidate(identity, {
        random,
        work: async (signal) => {
          terms++;
          working.add(identity);
          maxLeaders = Math.max(maxLeaders, working.size);
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          working.delete(identity);
        },
      });
      await start();
    }
  };
  const identities = ["a", "b", "c"];
  for (const identity of identities) void rounds(identity);
  for (let step = 0; step < 400; step++) {
    const identity = identities[random.uint32() % 3]!;
    if (world.server.cut.has(identity)) world.server.cut.delete(identity);
    else world.server.cut.add(identity);
    await world.clock.advance(random.next() * 20_000);
  }
  expect(maxLeaders).toBe(1);
  expect(terms).toBeGreaterThan(20);
});

test("times in the Lease mean nothing: an old record is waited out from when it was first seen", async () => {
  const world = new World();
  world.server.set({
    holderIdentity: "gone",
    leaseDurationSeconds: 15,
    renewTime: "2025-01-01T00:00:00.000000Z",
    leaseTransitions: 4,
  });
  void world.candidate("b").run();
  await world.clock.advance(14_999);
  expect(world.server.lease?.spec?.holderIdentity).toBe("gone");
  await world.clock.advance(2_000);
  expect(world.server.lease?.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 5 });
});

test("the duration in the record counts, not the candidate's own", async () => {
  const world = new World();
  world.server.set({ holderIdentity: "gone", leaseDurationSeconds: 60, leaseTransitions: 0 });
  void world.candidate("b").run();
  await world.clock.advance(59_999);
  expect(world.server.lease?.spec?.holderIdentity).toBe("gone");
  await world.clock.advance(2_001);
  expect(world.server.lease?.spec?.holderIdentity).toBe("b");
});

test("a wall clock that is an hour ahead changes nothing", async () => {
  const world = new World();
  const skewed: Clock = {
    now: () => world.clock.now() + 3_600_000,
    monotonic: () => world.clock.monotonic() + 12_345,
    setTimer: (...args) => world.clock.setTimer(...args),
    sleep: (...args) => world.clock.sleep(...args),
    yieldToEventLoop: () => world.clock.yieldToEventLoop(),
    keepAlive: () => world.clock.keepAlive(),
  };
  void world.candidate("a").run();
  await world.clock.advance(100);
  void world.candidate("b", { clock: skewed }).run();
  await world.clock.advance(60_000);
  expect(world.server.lease?.spec?.holderIdentity).toBe("a");
  world.server.cut.add("a");
  await world.clock.advance(20_000);
  expect(world.server.lease?.spec?.holderIdentity).toBe("b");
});

test("a released lease is acquired at the first attempt", async () => {
  const world = new World();
  world.server.set({ holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 2 });
  void world.candidate("b").run();
  await world.clock.settle();
  expect(world.server.lease?.spec).toMatchObject({
    holderIdentity: "b",
    leaseTransitions: 3,
    leaseDurationSeconds: 15,
  });
});

test("a candidate that restarts under the same identity leads at once", async () => {
  const world = new World();
  world.server.set({
    holderIdentity: "a",
    leaseDurationSeconds: 15,
    acquireTime: "2025-12-31T00:00:00.000000Z",
    leaseTransitions: 3,
  });
  void world.candidate("a").run();
  await world.clock.settle();
  expect(world.server.lease?.spec).toMatchObject({ acquireTime: "2025-12-31T00:00:00.000000Z", leaseTransitions: 3 });
  expect(world.log.at(-1)).toBe("0s a started");
});

test("a foreign change to the Lease costs the leader a read, not the leadership", async () => {
  const world = new World();
  const a = world.candidate("a", { labels: { component: "cm" } });
  void a.run();
  await world.clock.advance(1_000);
  world.server.set(world.server.lease!.spec!, { labels: { team: "batch" } });
  await world.clock.advance(5_000);
  expect(a.slowPaths).toEqual(["cm"]);
  expect(a.elector.mayActAsLeader).toBe(true);
  expect(world.server.lease?.metadata.labels).toEqual({ team: "batch", component: "cm" });
});

test("a deleted Lease is created again by its leader, which stays leader", async () => {
  const world = new World();
  world.server.set({ holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 2 });
  void world.candidate("a").run();
  await world.clock.advance(1_000);
  const { acquireTime } = world.server.lease!.spec!;
  world.server.lease = undefined;
  await world.clock.advance(5_000);
  expect(world.server.lease).toMatchObject({ spec: { holderIdentity: "a", leaseTransitions: 3, acquireTime } });
  expect(world.log).toEqual(["0s a event Lease/cm Normal LeaderElection: a became leader", "0s a started"]);
});

test("a leader that sees another holder writes no more, and stops at the deadline", async () => {
  const world = new World();
  void world.candidate("a").run();
  await world.clock.advance(1_000);
  world.server.set({ holderIdentity: "thief", leaseDurationSeconds: 60, leaseTransitions: 1 });
  const writes = world.server.writes.length;
  await world.clock.advance(30_000);
  expect(world.server.writes).toHaveLength(writes);
  expect(world.log.at(-1)).toBe("12s a stopped");
});

test("a leader whose lease another candidate acquired and released within the deadline reacquires it and does not stop", async () => {
  const world = new World();
  const a = world.candidate("a");
  void a.run();
  await world.clock.advance(1_000);
  world.server.set({ holderIdentity: "thief", leaseDurationSeconds: 60, leaseTransitions: 1 });
  await world.clock.advance(4_000);
  expect(a.elector.mayActAsLeader).toBe(false);
  world.server.set({ holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 1 });
  await world.clock.advance(4_000);
  expect(world.server.lease?.spec).toMatchObject({ holderIdentity: "a", leaseTransitions: 2 });
  expect(a.elector.mayActAsLeader).toBe(true);
  expect(world.log).toEqual(["0s a event Lease/cm Normal LeaderElection: a became leader", "0s a started"]);
});

test("on abort the work ends first, then the lease is released", async () => {
  const world = new World();
  const holders: unknown[] = [];
  const a = world.candidate("a", {
    releaseOnCancel: true,
    work: async (signal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      await world.clock.sleep(3_000);
      holders.push(world.server.lease?.spec?.holderIdentity);
    },
  });
  const done = a.run();
  await world.clock.advance(5_000);
  a.stop.abort();
  await world.clock.advance(2_999);
  expect(world.server.lease?.spec?.holderIdentity).toBe("a");
  await world.clock.advance(1);
  await done;
  expect(holders).toEqual(["a"]);
  expect(world.server.lease?.spec).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 0 });
  expect(a.elector.mayActAsLeader).toBe(false);
});

test("work that takes longer to end than the lease lasts keeps the lease until then", async () => {
  const world = new World();
  const a = world.candidate("a", {
    releaseOnCancel: true,
    work: async (signal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      await world.clock.sleep(40_000);
      world.log.push(`${world.clock.monotonic() / 1000}s a's work ended`);
    },
  });
  void a.run();
  await world.clock.advance(1_000);
  void world.candidate("b").run();
  await world.clock.advance(4_000);
  a.stop.abort();
  await world.clock.advance(60_000);
  expect(world.log.filter((line) => !line.includes("event"))).toEqual([
    "0s a started",
    "45s a's work ended",
    "45s a stopped",
    "45s b started",
  ]);
});

test("a lease that another candidate took over is not released", async () => {
  const world = new World();
  const a = world.candidate("a", { releaseOnCancel: true });
  const done = a.run();
  await world.clock.advance(1_000);
  world.server.set({ holderIdentity: "thief", leaseDurationSeconds: 60, leaseTransitions: 1 });
  a.stop.abort();
  await done;
  expect(world.server.lease?.spec?.holderIdentity).toBe("thief");
});

test("without releaseOnCancel the Lease is left as it is", async () => {
  const world = new World();
  const a = world.candidate("a");
  const done = a.run();
  await world.clock.advance(1_000);
  const before = world.server.lease;
  a.stop.abort();
  await done;
  expect(world.server.lease).toBe(before);
  expect(world.log.at(-1)).toBe("1s a stopped");
  expect(world.clock.nextTimerInMs).toBeUndefined();
});

test("a candidate stopped before it led says it stopped, and nothing else", async () => {
  const world = new World();
  world.server.set({ holderIdentity: "other", leaseDurationSeconds: 60, leaseTransitions: 0 });
  const b = world.candidate("b");
  const done = b.run();
  await world.clock.advance(5_000);
  b.stop.abort();
  await done;
  expect(world.log).toEqual(["5s b stopped"]);
});

test("work that fails gives up leadership, and run rejects with its error", async () => {
  const world = new World();
  const a = world.candidate("a", { work: () => Promise.reject(new Error("no informers")) });
  await expect(a.run()).rejects.toThrow("no informers");
  expect(world.log.at(-1)).toBe("0s a stopped");
});

test("run refuses to run twice at once; after its end it may be called again, and leads again", async () => {
  const world = new World();
  const a = world.candidate("a", { releaseOnCancel: true });
  const done = a.run();
  await world.clock.advance(1_000);
  await expect(a.run()).rejects.toThrow("leader election kube-system/cm is running already");
  a.stop.abort();
  await done;
  const stop = new AbortController();
  const again = a.elector.run(stop.signal);
  await world.clock.advance(1_000);
  expect(world.log.filter((line) => line.endsWith("started"))).toEqual(["0s a started", "1s a started"]);
  expect(world.server.lease?.spec).toMatchObject({ holderIdentity: "a", leaseTransitions: 1 });
  stop.abort();
  await again;
});

test("a callback that throws ends neither the leadership nor the release of the lease", async () => {
  const world = new World();
  let leads = false;
  const a = world.candidate("a", {
    releaseOnCancel: true,
    callbacks: {
      onStartedLeading: () => void (leads = true),
      onNewLeader: () => {
        throw new Error("report failed");
      },
      onStoppedLeading: () => {
        throw new Error("clean-up failed");
      },
    },
  });
  const done = a.run();
  await world.clock.advance(30_000);
  expect([leads, a.elector.mayActAsLeader]).toEqual([true, true]);
  a.stop.abort();
  await expect(done).rejects.toThrow("clean-up failed");
  expect(world.server.lease?.spec?.holderIdentity).toBe("");
});

test.each([
  ["leaseDuration must be greater than renewDeadline", { leaseDurationMs: 10_000, renewDeadlineMs: 10_000 }],
  ["renewDeadline must be greater than retryPeriod*JitterFactor", { renewDeadlineMs: 2_400, retryPeriodMs: 2_000 }],
  ["leaseDuration must be greater than renewDeadline", { leaseDurationMs: Number.NaN }],
  ["leaseDuration must be at least one second", { leaseDurationMs: 900, renewDeadlineMs: 500, retryPeriodMs: 100 }],
  ["renewDeadline must be greater than retryPeriod*JitterFactor", { renewDeadlineMs: -1 }],
  ["renewDeadline must be greater than zero", { renewDeadlineMs: -1, retryPeriodMs: -2 }],
  ["retryPeriod must be greater than zero", { retryPeriodMs: 0 }],
  ["retryPeriod must be greater than zero", { retryPeriodMs: -1 }],
  ["Lock identity is empty", { identity: "" }],
  ["the Lease needs a namespace and a name", { name: "" }],
  ["the Lease needs a namespace and a name", { namespace: "" }],
])("refuses options: %s", (message, options) => {
  expect(() => new World().candidate("a", options)).toThrow(message);
});

test("the health check fails only for a leader that has not renewed for lease duration and tolerance", async () => {
  const world = new World();
  const stuck = { until: 0 };
  const held: Clock = {
    ...clockOf(world.clock),
    sleep: async (delayMs, signal, options) =>
      world.clock.sleep(Math.max(delayMs, stuck.until - world.clock.monotonic()), signal, options),
  };
  const a = world.candidate("a", { clock: held });
  const b = world.candidate("b");
  stuck.until = 100_000;
  void a.run();
  await world.clock.advance(34_000);
  void b.elector;
  expect(a.elector.checkHealth(20_000)).toBeUndefined();
  await world.clock.advance(2_000);
  expect(a.elector.checkHealth(20_000)?.message).toBe("failed election to renew leadership on lease cm");
  expect(b.elector.checkHealth(20_000)).toBeUndefined();
});

test("a process held up past its lease may not act before it has renewed: the fence refuses its writes, not its reads", async () => {
  const world = new World();
  const stuck = { until: 0 };
  const held: Clock = {
    ...clockOf(world.clock),
    sleep: async (delayMs, signal, options) =>
      world.clock.sleep(Math.max(delayMs, stuck.until - world.clock.monotonic()), signal, options),
  };
  stuck.until = 20_000;
  const a = world.candidate("a", { clock: held });
  const { transport, requests } = scriptedTransport(() => ({}));
  /** Resolves when requests that wait for a connection may proceed. */
  let connectionReady: Promise<void> | undefined;
  const fenced = leaderFence(
    async (request) => {
      await connectionReady;
      request.beforeSend?.();
      return transport(request);
    },
    () => a.elector.mayActAsLeader,
  );
  const send = (method: "GET" | "POST") => fenced({ method, path: "/api/v1/namespaces/default/pods", headers: {} });
  void a.run();
  await world.clock.advance(9_999);
  await send("POST");
  const connection = Promise.withResolvers<void>();
  connectionReady = connection.promise;
  const waiting = send("POST").catch((error: unknown) => error);
  await world.clock.advance(10_000);
  connection.resolve();
  expect(await waiting).toBeInstanceOf(NotLeaderError);
  connectionReady = undefined;
  await expect(send("POST")).rejects.toBeInstanceOf(NotLeaderError);
  await send("GET");
  expect(requests.map(({ method }) => method)).toEqual(["POST", "GET"]);
  await world.clock.advance(1);
  await send("POST");
  // The lease had expired, so the elector had to read its holder before the renewal.
  expect(a.slowPaths).toEqual(["cm"]);
});

test("a renewal counts from when it was sent: others may count from then, however late its answer comes", async () => {
  const world = new World();
  const answer = world.server.answer.bind(world.server);
  world.server.answer = async (identity, request) => {
    const answered = answer(identity, request);
    if (request.method === "PUT") await world.clock.sleep(4_000);
    return answered;
  };
  const a = world.candidate("a");
  void a.run();
  await world.clock.advance(5_000);
  expect(world.server.writes).toHaveLength(2);
  world.server.cut.add("a");
  await world.clock.advance(4_999);
  expect(a.elector.mayActAsLeader).toBe(true);
  await world.clock.advance(1);
  expect(a.elector.mayActAsLeader).toBe(false);
});

function clockOf(clock: SimulatedClock): Clock {
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    setTimer: (...args) => clock.setTimer(...args),
    sleep: (...args) => clock.sleep(...args),
    yieldToEventLoop: () => clock.yieldToEventLoop(),
    keepAlive: () => clock.keepAlive(),
  };
}

test("that the Lease is out of reach is logged once per kind of trouble, however its wording changes", async () => {
  const world = new World();
  const said: string[] = [];
  const say =
    (level: string) =>
    (_fields: object, message: string): void =>
      void said.push(`${level} ${message}`);
  const logger = { debug: () => undefined, info: say("info"), warn: say("warn"), error: say("error") };
  const answer = world.server.answer.bind(world.server);
  let attempts = 0;
  world.server.answer = () => Promise.reject(new Error(`no answer to attempt ${++attempts}`));
  const { run, stop } = world.candidate("a", { logger });
  const ended = run();
  await world.clock.advance(60_000);
  expect(attempts).toBeGreaterThan(10);
  world.server.answer = () => refusal(403, "Forbidden", `not allowed, attempt ${++attempts}`);
  await world.clock.advance(60_000);
  world.server.answer = answer;
  await world.clock.advance(10_000);
  expect(said).toEqual([
    "info Attempting to acquire leader lease...",
    "warn Failed to acquire or renew lease",
    "warn Failed to acquire or renew lease",
    "info Lease is within reach again",
    "info Successfully acquired lease",
  ]);
  stop.abort();
  await ended;
});

import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";
import { expect, test } from "vitest";

import { LeaderElector } from "./leader-elector.js";

/**
 * Candidates for one Lease of an API server. Each candidate can be cut off from the server or prevented from watching.
 */
class World {
  readonly clock = new SimulatedClock("2026-01-01T00:00:00Z");
  readonly server = createApiServer({ clock: this.clock, random: seededRandom(1), freeze: true });
  /** Candidates with the time at which they began to lead. */
  readonly terms: { readonly identity: string; readonly atMs: number }[] = [];
  readonly cut = new Set<string>();
  readonly logged: string[] = [];

  candidate(identity: string, { mayWatch = true, hung = false } = {}) {
    const stop = new AbortController();
    const requests: ApiRequest[] = [];
    const transport: Transport = (request) => {
      requests.push(request);
      if (this.cut.has(identity)) return Promise.reject(new Error("cut off"));
      const watches = request.path.includes("watch=true");
      if (watches && hung) return new Promise(() => {});
      if (watches && !mayWatch) return Promise.resolve(forbidden);
      return this.server.transport(request);
    };
    const say = (fields: object, message: string): void => void this.logged.push(`${identity} ${message}`);
    const elector = new LeaderElector({
      client: new Client({ transport, clock: this.clock, userAgent: identity }),
      clock: this.clock,
      random: seededRandom(identity.length),
      namespace: "kube-system",
      name: "cm",
      identity,
      releaseOnCancel: true,
      logger: { debug: () => undefined, info: say, warn: say, error: say },
      callbacks: {
        onStartedLeading: (signal) => {
          this.terms.push({ identity, atMs: this.clock.monotonic() });
          return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
        },
        onStoppedLeading: () => undefined,
      },
    });
    elector.run(stop.signal).catch(() => undefined); // a candidate that loses the lease rejects
    return { elector, requests, stop: () => stop.abort(new Error("stop")) };
  }
}

const forbidden: ApiResponse = {
  status: 403,
  headers: {},
  body: {
    type: "decoded",
    value: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "Forbidden", code: 403 },
  },
};

test("a standby leads at once when the leader has released the lease", async () => {
  const world = new World();
  const leader = world.candidate("a");
  await world.clock.advance(1_000);
  world.candidate("standby");
  await world.clock.advance(20_300);
  leader.stop();
  await world.clock.advance(100);
  expect(world.terms.map(({ identity }) => identity)).toEqual(["a", "standby"]);
  expect(world.terms[1]!.atMs - 21_300).toBeLessThan(50);
});

test("of several standbys exactly one takes a released lease, and the others wait on", async () => {
  const world = new World();
  const leader = world.candidate("a");
  await world.clock.advance(1_000);
  for (const identity of ["bb", "ccc", "dddd"]) world.candidate(identity);
  await world.clock.advance(10_000);
  leader.stop();
  await world.clock.advance(60_000);
  expect(world.terms).toHaveLength(2);
});

test("a standby leads within a second after the lease of a dead leader has expired, and never before", async () => {
  for (const diesAtMs of [20_000, 20_500, 21_000, 21_999]) {
    const world = new World();
    world.candidate("a");
    await world.clock.advance(1_000);
    world.candidate("standby");
    await world.clock.advance(diesAtMs - 1_000);
    world.cut.add("a");
    const renewedMs = Math.floor(diesAtMs / 2_000) * 2_000;
    await world.clock.advance(30_000);
    const { identity, atMs } = world.terms[1]!;
    expect(identity).toBe("standby");
    expect(atMs - renewedMs).toBeGreaterThanOrEqual(15_000);
    expect(atMs - renewedMs).toBeLessThan(16_000);
  }
});

test.each([
  ["is not allowed", { mayWatch: false }],
  ["hangs", { hung: true }],
])("a standby whose watch %s polls, and takes over all the same", async (_what, options) => {
  const world = new World();
  const leader = world.candidate("a");
  await world.clock.advance(1_000);
  world.candidate("standby", options);
  await world.clock.advance(60_000);
  leader.stop();
  await world.clock.advance(4_500);
  expect(world.terms.map(({ identity }) => identity)).toEqual(["a", "standby"]);
});

test("the watch is closed when the candidate leads, or stops", async () => {
  const world = new World();
  const leader = world.candidate("a");
  await world.clock.advance(1_000);
  const standby = world.candidate("standby");
  await world.clock.advance(10_000);
  const watches = (): ApiRequest[] => standby.requests.filter(({ path }) => path.includes("watch=true"));
  expect(watches().map(({ signal }) => signal?.aborted)).toEqual([false]);
  leader.stop();
  await world.clock.advance(60_000);
  expect(watches().map(({ signal }) => signal?.aborted)).toEqual([true]);
});

test("trouble that lasts is logged once, and so is its end", async () => {
  const world = new World();
  world.candidate("a");
  await world.clock.advance(1_000);
  world.candidate("standby");
  await world.clock.advance(5_000);
  world.cut.add("standby");
  await world.clock.advance(3_600_000);
  world.cut.delete("standby");
  await world.clock.advance(10_000);
  expect(world.logged.filter((line) => line.startsWith("standby"))).toEqual([
    "standby Attempting to acquire leader lease...",
    "standby Failed to acquire or renew lease",
    "standby Lease is within reach again",
  ]);
});

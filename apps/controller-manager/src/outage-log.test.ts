import { errorMessage } from "@kubewright/client";
import type { Transport } from "@kubewright/transport";
import { expect, test } from "vitest";

import { SimulatedManagers, messages } from "../test/simulated-managers.js";

/** A transport to an API server that is unreachable, or returns 401, between two points in time. */
function outage(world: SimulatedManagers, fromMs: number, toMs: number, status?: number) {
  return (transport: Transport): Transport =>
    async (request) => {
      const nowMs = world.clock.monotonic();
      if (nowMs < fromMs || nowMs >= toMs) return transport(request);
      if (status === undefined) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
      const value = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: status };
      return { status, headers: {}, body: { type: "decoded", value } };
    };
}

test.each([
  ["away", undefined, "connect ECONNREFUSED"],
  ["refusing all", 401, "the credentials were refused (401)"],
])(
  "an API server that is %s for ten minutes is logged in one line, and its return in another",
  async (_what, status, err) => {
    const world = await SimulatedManagers.create();
    const manager = world.start({ leaderElect: false }, { wrap: outage(world, 60_000, 660_000, status) });
    await world.createJob("before");
    await world.clock.advance(50_000);
    const before = manager.lines.length;
    await world.clock.advance(10_001);
    // Its syncs become due during the outage, and fail too.
    await world.createJob("during");
    await world.clock.advance(1_200_000);
    expect(messages(manager.lines.slice(before))).toEqual([
      "warn API server is out of reach, trying on; further errors are logged at -v=4",
      "info API server answers again",
    ]);
    expect(manager.lines.at(-2)?.fields).toEqual({ err });
    await world.createJob("after");
    await world.clock.advance(3_000);
    expect(await world.countPods()).toBeGreaterThanOrEqual(4);
  },
);

test("a forbidden informer logs once a minute, not at every attempt", async () => {
  const world = await SimulatedManagers.create();
  let attempts = 0;
  const value = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "Forbidden", code: 403 };
  const manager = world.start(
    { leaderElect: false, controllers: ["job", "cronjob"] },
    {
      wrap: (transport) => async (request) => {
        if (!request.path.startsWith("/apis/batch/v1/cronjobs")) return transport(request);
        attempts++;
        return { status: 403, headers: {}, body: { type: "decoded", value } };
      },
    },
  );
  await world.clock.advance(60_000);
  const logged = manager.lines.filter(({ message }) => message === "Informer failed, going on");
  expect(attempts).toBeGreaterThan(5);
  expect(logged).toHaveLength(1);
  await world.clock.advance(90_000);
  const later = manager.lines.filter(({ message }) => message === "Informer failed, going on");
  expect(later.length).toBeLessThanOrEqual(3);
  expect(later[1]?.fields.repeated).toBeGreaterThan(0);
});

test("without any permission one line is logged for each resource, and no line twice within a minute", async () => {
  const world = await SimulatedManagers.create();
  const manager = world.start(
    { leaderElect: false },
    {
      wrap: (transport) => async (request) => {
        const resource = /\/(\w+)\?/.exec(request.path)?.[1];
        if (request.method !== "GET" || resource === undefined) return transport(request);
        const message = `cannot list ${resource}`;
        const value = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Forbidden", message, code: 403 };
        return { status: 403, headers: {}, body: { type: "decoded", value } };
      },
    },
  );
  await world.clock.advance(50_000);
  const logged = manager.lines
    .filter(({ level }) => level === "warn" || level === "error")
    .map(({ message, fields }) => `${message} ${JSON.stringify({ ...fields, err: errorMessage(fields.err) })}`);
  expect(logged).toEqual([...new Set(logged)]);
  for (const resource of ["jobs", "cronjobs", "pods", "nodes"]) {
    expect(
      logged.filter((line) => line.includes(`Informer failed`) && line.includes(`list ${resource}"`)),
    ).toHaveLength(1);
  }
  expect(logged.filter((line) => line.startsWith("Monitor failed") && line.includes("secrets"))).toHaveLength(1);
});

test("the API server is back only when watches that were too old (410) have been reopened", async () => {
  const world = await SimulatedManagers.create();
  const manager = world.start({ leaderElect: false }, { wrap: outage(world, 60_000, 75_000) });
  await world.clock.advance(60_001);
  // Ends all watches, as a stopping server does.
  await world.server.close();
  await world.createJob("during");
  world.server.compact();
  const isBack = (): boolean => manager.lines.some(({ message }) => message === "API server answers again");
  // The longest back-off of the last watch; the garbage collector has one watch for every kind.
  for (let waited = 0; !isBack() && waited < 1_300; waited++) await world.clock.advance(100);
  expect(isBack()).toBe(true);
  const wasReopened = (path: string): boolean =>
    manager.requests.some(
      (request) =>
        request.atMs >= 75_000 &&
        request.path.startsWith(`${path}?`) &&
        request.path.includes("sendInitialEvents=true"),
    );
  for (const path of ["/api/v1/pods", "/apis/batch/v1/jobs", "/apis/batch/v1/cronjobs", "/api/v1/nodes"])
    expect([path, wasReopened(path)]).toEqual([path, true]);
});

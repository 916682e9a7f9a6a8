import type { Transport } from "@kubewright/transport";
import { expect, test } from "vitest";

import { SimulatedManagers, messages } from "../test/simulated-managers.js";

/** The API server is away between two points of time, or answers 401. */
function outage(world: SimulatedManagers, fromMs: number, toMs: number, status?: number) {
  return (transport: Transport): Transport =>
    async (request) => {
      const nowMs = world.clock.monotonic();
      if (nowMs < fromMs || nowMs >= toMs) return transport(request);
      if (status === undefined) throw new Error("connect ECONNREFUSED");
      const value = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: status };
      return { status, headers: {}, body: { type: "decoded", value } };
    };
}

test.each([
  ["away", undefined, "connect ECONNREFUSED"],
  ["refusing everybody", 401, "the credentials were refused (401)"],
])(
  "an API server that is %s for ten minutes is logged in one line, and its return in another",
  async (_what, status, err) => {
    const world = await SimulatedManagers.create();
    const manager = world.start({ leaderElect: false }, { wrap: outage(world, 60_000, 660_000, status) });
    await world.createJob("before");
    await world.clock.advance(50_000);
    const before = manager.lines.length;
    await world.clock.advance(10_001);
    // Its syncs come due during the outage, and fail as well.
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

test("what one informer may not do is said once a minute, not at every attempt", async () => {
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
  const said = manager.lines.filter(({ message }) => message === "Informer failed, going on");
  expect(attempts).toBeGreaterThan(5);
  expect(said).toHaveLength(1);
  await world.clock.advance(90_000);
  const later = manager.lines.filter(({ message }) => message === "Informer failed, going on");
  expect(later.length).toBeLessThanOrEqual(3);
  expect(later[1]?.fields.repeated).toBeGreaterThan(0);
});

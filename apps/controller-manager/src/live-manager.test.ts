import type { Transport } from "@kubewright/transport";
import { expect, test } from "vitest";

import { SimulatedManagers } from "../test/simulated-managers.js";

const KCM = "kube-controller-manager";

test("beside a live kube-controller-manager it refuses to start, and says what to do", async () => {
  const world = await SimulatedManagers.create();
  await world.holdLease(KCM, "node-1_abc", "2026-01-01T00:00:00.000000Z");
  await world.clock.advance(5_000);
  const manager = world.start();
  await world.clock.advance(100);
  expect(manager.state()).toBe(
    "kube-controller-manager is running (node-1_abc holds lease kube-system/kube-controller-manager): pass --managed-by NAME to handle only Jobs with that spec.managedBy, or switch these controllers off there (such as --controllers=*,-job,-cronjob) and pass --take-over",
  );
  expect(manager.requests).toHaveLength(1);
});

test("without leader election it looks all the same", async () => {
  const world = await SimulatedManagers.create();
  await world.holdLease(KCM, "node-1_abc", "2026-01-01T00:00:00.000000Z");
  const manager = world.start({ leaderElect: false });
  await world.clock.advance(100);
  expect(manager.state()).toMatch(/^kube-controller-manager is running/);
});

test.each([
  ["--take-over", { takeOver: true }],
  ["--managed-by", { managedBy: "acme.io/jobs" }],
])("with %s it does not ask", async (_flag, options) => {
  const world = await SimulatedManagers.create();
  await world.holdLease(KCM, "node-1_abc", "2026-01-01T00:00:00.000000Z");
  const manager = world.start(options);
  await world.clock.advance(1_000);
  expect(manager.state()).toBe("running");
  expect(manager.requests.filter(({ path }) => path.includes(`/leases/${KCM}`))).toEqual([]);
});

test("one that contends for kube-controller-manager's own Lease stands by", async () => {
  const world = await SimulatedManagers.create();
  await world.holdLease(KCM, "node-1_abc", "2026-01-01T00:00:00.000000Z");
  const manager = world.start({ leaderElectResourceName: KCM });
  await world.clock.advance(14_000);
  expect(await world.leaseHolder(KCM)).toBe("node-1_abc");
  await world.clock.advance(6_000);
  expect(manager.state()).toBe("running");
  expect(await world.leaseHolder(KCM)).toMatch(/^host_/);
});

test.each([
  ["that was released", "", 0],
  ["whose holder is gone for a day", "node-1_abc", 86_400_000],
])("a Lease %s does not hold it up", async (_what, holder, ageMs) => {
  const world = await SimulatedManagers.create();
  await world.holdLease(KCM, holder, "2026-01-01T00:00:00.000000Z");
  await world.clock.advance(ageMs);
  const manager = world.start();
  await world.clock.advance(500);
  expect(manager.state()).toBe("running");
  expect(await world.leaseHolder()).toMatch(/^host_/);
});

test.each([
  ["ago", "2025-12-31T23:58:00.000000Z", "2025-12-31T23:58:02.000000Z"],
  ["ahead", "2026-01-01T00:03:00.000000Z", "2026-01-01T00:03:02.000000Z"],
])(
  "a Lease two minutes %s is observed: renewed, its holder's clock is wrong, and it lives",
  async (_what, first, next) => {
    const world = await SimulatedManagers.create();
    await world.holdLease(KCM, "node-1_abc", first);
    const manager = world.start();
    await world.clock.advance(2_500);
    expect(manager.state()).toBe("running");
    await world.holdLease(KCM, "node-1_abc", next);
    await world.clock.advance(1_000);
    expect(manager.state()).toMatch(/^kube-controller-manager is running/);
  },
);

test("a Lease two minutes ago that is not renewed is a dead one's", async () => {
  const world = await SimulatedManagers.create();
  await world.holdLease(KCM, "node-1_abc", "2025-12-31T23:58:00.000000Z");
  const manager = world.start();
  await world.clock.advance(7_000);
  expect(manager.state()).toBe("running");
  expect(await world.leaseHolder()).toMatch(/^host_/);
});

test("without permission to read the Lease it refuses to start", async () => {
  const world = await SimulatedManagers.create();
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "Forbidden", code: 403 };
  const forbidding =
    (transport: Transport): Transport =>
    async (request) =>
      request.path.includes(`/leases/${KCM}`)
        ? { status: 403, headers: {}, body: { type: "decoded", value: status } }
        : transport(request);
  const manager = world.start({}, { wrap: forbidding });
  await world.clock.advance(100);
  expect(manager.state()).toMatch(
    /^not known whether kube-controller-manager is running \(not allowed to get lease kube-system\/kube-controller-manager\): grant that, or pass --managed-by NAME/,
  );
});

test("an API server that is away at first is asked until it answers, and that is said once", async () => {
  const world = await SimulatedManagers.create();
  const away =
    (transport: Transport): Transport =>
    (request) =>
      world.clock.monotonic() < 60_000 ? Promise.reject(new Error("connection refused")) : transport(request);
  const manager = world.start({}, { wrap: away });
  await world.clock.advance(65_000);
  expect(await world.leaseHolder()).toMatch(/^host_/);
  expect(manager.lines.filter(({ level }) => level !== "info").slice(0, 2)).toMatchObject([
    { message: "Not known yet whether kube-controller-manager is running" },
  ]);
  expect(manager.lines.filter(({ message }) => message.startsWith("Not known yet"))).toHaveLength(1);
});

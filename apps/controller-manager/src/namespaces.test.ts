import { expect, test } from "vitest";

import { SimulatedManagers } from "../test/simulated-managers.js";

test("with --namespace only paths of those namespaces are asked for, and the Lease is there", async () => {
  const world = await SimulatedManagers.create();
  const manager = world.start({ namespaces: ["b", "a"], takeOver: true });
  await world.clock.advance(1_000);
  for (const namespace of ["a", "b", "default"]) await world.createJob("pi", { namespace });
  await world.clock.advance(3_000);
  expect([await world.countPods("a"), await world.countPods("b"), await world.countPods("default")]).toEqual([2, 2, 0]);
  expect(await world.leaseHolder("kubewright-controller-manager", "a")).toMatch(/^host_/);
  expect(await world.leaseHolder()).toBeUndefined();
  const elsewhere = manager.requests.filter(({ path }) => !/\/namespaces\/[ab]\//.test(path));
  expect(new Set(elsewhere.map(({ path }) => path))).toEqual(new Set(["/healthz"]));
  manager.stop();
  await world.clock.advance(1_000);
  expect([manager.state(), await world.leaseHolder("kubewright-controller-manager", "a")]).toEqual(["stopped", ""]);
});

test("with --namespace PodGC and the garbage collector are left out, which is said in a line each", async () => {
  const world = await SimulatedManagers.create();
  const manager = world.start({ namespaces: ["a"] });
  await world.clock.advance(1_000);
  expect(manager.lines.filter(({ level }) => level === "warn")).toEqual(
    ["pod-garbage-collector-controller", "garbage-collector-controller"].map((controller) => ({
      level: "warn",
      message: "Warning: controller needs the whole cluster, skipped with --namespace",
      fields: { controller },
    })),
  );
});

test("when one namespace's controllers do not stop, the line says which", async () => {
  const world = await SimulatedManagers.create();
  const manager = world.start(
    { namespaces: ["a", "b"] },
    {
      wrap: (transport) => (request) =>
        request.method === "POST" && request.path.includes("/a/pods") ? new Promise(() => {}) : transport(request),
    },
  );
  await world.clock.advance(1_000);
  for (const namespace of ["a", "b"]) await world.createJob("pi", { namespace });
  await world.clock.advance(3_000);
  manager.stop();
  await world.clock.advance(11_000);
  expect(manager.lines.at(-1)?.fields.runningControllers).toEqual(["job-controller in a"]);
});

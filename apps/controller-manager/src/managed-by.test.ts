import { jobs, pods } from "@kubewright/api";
import { expect, test } from "vitest";

import { SimulatedManagers } from "../test/simulated-managers.js";

const NAME = "acme.io/jobs";

test("with --managed-by exactly the Jobs of that name get pods", async () => {
  const world = await SimulatedManagers.create();
  const manager = world.start({ managedBy: NAME });
  await world.clock.advance(1_000);
  await world.createJob("plain");
  await world.createJob("built-in", { managedBy: "kubernetes.io/job-controller" });
  await world.createJob("other", { managedBy: "acme.io/other" });
  await world.createJob("ours", { managedBy: NAME });
  await world.clock.advance(3_000);
  const { items } = await world.client.resource(pods).list();
  expect(new Set(items.map(({ metadata }) => metadata.ownerReferences?.[0]?.name))).toEqual(new Set(["ours"]));
  const written = manager.requests.filter(({ method, path }) => method !== "GET" && path.includes("/jobs/"));
  expect(new Set(written.map(({ path }) => path.split("/jobs/")[1]))).toEqual(new Set(["ours/status"]));
});

test("with --managed-by no other controller starts that is not named", async () => {
  const world = await SimulatedManagers.create();
  const started = async (controllers: readonly string[]): Promise<unknown[]> => {
    const manager = world.start({ managedBy: NAME, controllers, leaderElect: false });
    await world.clock.advance(1_000);
    const lines = manager.lines.filter(({ message }) => message.startsWith("Starting "));
    manager.stop();
    await world.clock.advance(1_000);
    return lines.map(({ message }) => message);
  };
  expect(await started(["*"])).toEqual(["Starting job controller"]);
  expect(await started(["ttl-after-finished"])).toEqual([
    "Starting job controller",
    "Starting TTL after finished controller",
  ]);
  expect(await started(["*", "-job", "cronjob"])).toEqual(["Starting cronjob controller v2"]);
});

test("managers of different names lead side by side, each with a Lease of its own", async () => {
  const world = await SimulatedManagers.create();
  const both = [world.start({ managedBy: "acme.io/a" }), world.start({ managedBy: "acme.io/b" }), world.start()];
  await world.clock.advance(1_000);
  for (const name of ["", "-acme.io--a", "-acme.io--b"])
    expect(await world.leaseHolder(`kubewright-controller-manager${name}`)).toMatch(/^host_/);
  expect(both.map(({ state }) => state())).toEqual(["running", "running", "running"]);
});

test("a deleted Job's pods are freed by the manager it was of, and by no other with a name", async () => {
  const world = await SimulatedManagers.create();
  const other = world.start({ managedBy: "acme.io/other" });
  const ours = world.start({ managedBy: NAME });
  await world.clock.advance(1_000);
  await world.createJob("ours", { managedBy: NAME });
  await world.clock.advance(3_000);
  await world.client.resource(jobs).delete("ours", { namespace: "default", propagationPolicy: "Orphan" });
  // The garbage collector, which would take the finalizer "orphan" off, is not here.
  await world.client
    .resource(jobs)
    .patch("ours", { type: "merge", body: { metadata: { finalizers: null } } }, { namespace: "default" });
  await world.clock.advance(3_000);
  const { items } = await world.client.resource(pods).list();
  expect(items.map(({ metadata }) => metadata.finalizers ?? [])).toEqual([[], []]);
  const patched = (manager: typeof ours): number =>
    manager.requests.filter(({ method, path }) => method === "PATCH" && path.includes("/pods/")).length;
  expect(patched(ours)).toBeGreaterThanOrEqual(2);
  expect(patched(other)).toBe(0);
});

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

test("the manager of a deleted Job removes the finalizers of its pods, no other manager does", async () => {
  const world = await SimulatedManagers.create();
  const other = world.start({ managedBy: "acme.io/other" });
  const ours = world.start({ managedBy: NAME });
  await world.clock.advance(1_000);
  await world.createJob("ours", { managedBy: NAME });
  await world.clock.advance(3_000);
  await world.client.resource(jobs).delete("ours", { namespace: "default", propagationPolicy: "Orphan" });
  // The garbage collector, which would remove the finalizer "orphan", does not run here.
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

test.each([
  ["1.31", 1],
  ["1.33", 0],
  ["1.36.3", 0],
] as const)("on an API server of %s that drops managedBy a manager says so once: %d", async (version, times) => {
  const world = await SimulatedManagers.create(version);
  const manager = world.start({ managedBy: NAME });
  const upstream = world.start({ takeOver: true });
  await world.clock.advance(3_000);
  const warnings = manager.lines.filter(({ message }) => message.includes("JobManagedBy"));
  expect(warnings.map(({ level }) => level)).toEqual(times === 0 ? [] : ["warn"]);
  expect(warnings.every(({ fields }) => fields["server"] === "v1.31.14" && fields["managedBy"] === NAME)).toBe(true);
  expect(upstream.lines.filter(({ message }) => message.includes("JobManagedBy"))).toEqual([]);
  await world.createJob("ours", { managedBy: NAME });
  await world.clock.advance(3_000);
  const writes = ({ requests }: typeof manager): number =>
    requests.filter(({ method, path }) => method === "POST" && path.includes("/pods")).length;
  // Exactly one of the two managers runs the Job.
  expect([writes(manager), writes(upstream)]).toEqual(times === 0 ? [2, 0] : [0, 2]);
});

test("an API server that does not report its version is still served", async () => {
  const world = await SimulatedManagers.create("1.31");
  const manager = world.start(
    { managedBy: NAME },
    {
      wrap: (inner) => (request) =>
        request.path.startsWith("/version") ? new Promise<never>(() => {}) : inner(request),
    },
  );
  await world.clock.advance(60_000);
  expect(manager.lines.map(({ message }) => message)).toContain("Starting job controller");
  expect(manager.lines.filter(({ message, level }) => message.includes("JobManagedBy") || level === "error")).toEqual(
    [],
  );
});

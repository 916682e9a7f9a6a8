import { leases, mutableCopy } from "@kubewright/api";
import type { Transport } from "@kubewright/transport";
import { expect, test } from "vitest";

import { SimulatedManagers, isWrite } from "../test/simulated-managers.js";

const LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

test("controllers work together on one list and one watch of each resource, and stop on abort", async () => {
  const world = await SimulatedManagers.create();
  const manager = world.start();
  await world.clock.advance(1_000);
  await world.createJob();
  await world.clock.advance(3_000);
  expect(await world.countPods()).toBe(2);
  const watched = manager.requests
    .filter(({ path }) => path.includes("watch=true"))
    .map(({ path }) => path.split("?")[0]);
  expect(watched).toEqual([...new Set(watched)]);
  expect(watched).toEqual(expect.arrayContaining(["/api/v1/pods", "/apis/batch/v1/cronjobs", "/apis/batch/v1/jobs"]));
  expect(manager.state()).toBe("running");
  manager.stop();
  await world.clock.advance(1_000);
  expect(manager.state()).toBe("stopped");
});

test("--controllers chooses which resources are watched", async () => {
  const world = await SimulatedManagers.create();
  const manager = world.start({ controllers: ["*", "-cronjob", "-garbagecollector"], leaderElect: false });
  await world.clock.advance(1_000);
  expect(manager.requests.some(({ path }) => path.includes("/cronjobs"))).toBe(false);
  expect(manager.requests.some(({ path }) => path.includes("/leases/kubewright"))).toBe(false);
  expect(manager.requests.some(({ path }) => path.includes("/jobs"))).toBe(true);
});

const NAMES = [
  "job-controller",
  "cronjob-controller",
  "ttl-after-finished-controller",
  "pod-garbage-collector-controller",
  "garbage-collector-controller",
];

test.each([
  [["*"], []],
  [["job", "cronjob"], NAMES.slice(2)],
  [["*", "-podgc"], ["pod-garbage-collector-controller"]],
  [["-podgc", "*"], ["pod-garbage-collector-controller"]],
  [["job", "-job-controller"], NAMES.slice(1)],
  [["-job-controller", "job"], NAMES],
  [[], NAMES],
])("--controllers %j says that these are disabled: %j", async (controllers, disabled) => {
  const world = await SimulatedManagers.create();
  const manager = world.start({ controllers });
  await world.clock.advance(1_000);
  const disabledWarnings = manager.lines.filter(({ message }) => message === "Warning: controller is disabled");
  expect(disabledWarnings.map(({ fields }) => fields.controller)).toEqual(disabled);
});

test("a start logs lines in kube-controller-manager's order", async () => {
  const world = await SimulatedManagers.create();
  const manager = world.start({ controllers: ["job", "cronjob"] });
  await world.clock.advance(1_000);
  const lock = "kube-system/kubewright-controller-manager";
  expect(manager.lines.map(({ message }) => message)).toEqual([
    "Attempting to acquire leader lease...",
    "Successfully acquired lease",
    "Event occurred",
    ...NAMES.slice(2).map(() => "Warning: controller is disabled"),
    "Starting job controller",
    "Starting cronjob controller v2",
  ]);
  expect(manager.lines[2]?.fields).toEqual({
    object: lock,
    fieldPath: "",
    kind: "Lease",
    apiVersion: "coordination.k8s.io/v1",
    type: "Normal",
    reason: "LeaderElection",
    message: `${await world.leaseHolder()} became leader`,
  });
  await world.createJob();
  await world.clock.advance(3_000);
  expect(manager.lines.filter(({ message }) => message === "Event occurred")).toHaveLength(1);
});

test("without controllers the Lease is still held until shutdown", async () => {
  const world = await SimulatedManagers.create();
  const manager = world.start({ controllers: [] });
  await world.clock.advance(60_000);
  expect(await world.leaseHolder()).toMatch(/^host_/);
  manager.stop();
  await world.clock.advance(1_000);
  expect([manager.state(), await world.leaseHolder()]).toEqual(["stopped", ""]);
});

test("an unimplemented controller name is logged", async () => {
  const world = await SimulatedManagers.create();
  const manager = world.start({ controllers: ["*", "bootstrapsigner", "tokencleaner"] });
  await world.clock.advance(1_000);
  expect(manager.state()).toBe("running");
  expect(manager.lines.filter(({ level }) => level === "warn").map(({ fields }) => fields.controller)).toEqual([
    "bootstrap-signer-controller",
    "token-cleaner-controller",
  ]);
});

test("--enable-garbage-collector=false leaves the garbage collector out and says so", async () => {
  const world = await SimulatedManagers.create();
  const manager = world.start({ enableGarbageCollector: false });
  await world.clock.advance(1_000);
  expect(manager.lines).toContainEqual({
    level: "warn",
    message: "Warning: skipping controller",
    fields: { controller: "garbage-collector-controller" },
  });
  expect(manager.lines.map(({ message }) => message)).not.toContain("Starting controller");
});

test("a standby reads nothing but the Lease, writes nothing, and takes over at once when the leader stops", async () => {
  const world = await SimulatedManagers.create();
  const leader = world.start({ takeOver: true });
  await world.clock.advance(1_000);
  const standby = world.start({ takeOver: true });
  await world.clock.advance(60_000);
  expect(new Set(standby.requests.map(({ path }) => path))).toEqual(
    new Set([
      `${LEASE}/kubewright-controller-manager?timeout=5s`,
      `${LEASE}?watch=true&fieldSelector=metadata.name%3Dkubewright-controller-manager&timeoutSeconds=600`,
    ]),
  );
  expect(standby.requests.filter(isWrite)).toEqual([]);
  leader.stop();
  await world.clock.advance(1_000);
  expect(leader.state()).toBe("stopped");
  await world.createJob();
  await world.clock.advance(3_000);
  expect(await world.countPods()).toBe(2);
});

test("a standby takes over within a second after the Lease of a leader that was cut off has expired", async () => {
  const world = await SimulatedManagers.create();
  let cut = false;
  const leader = world.start({}, { wrap: cutting(() => cut) });
  await world.clock.advance(1_000);
  const standby = world.start();
  await world.clock.advance(20_000);
  cut = true;
  const renewedMs = leader.requests.findLast(({ method }) => method === "PUT")!.atMs;
  await world.clock.advance(30_000);
  expect(leader.state()).toBe("leaderelection lost/stopped");
  const tookOverMs = standby.requests.find(isWrite)!.atMs - renewedMs;
  expect(tookOverMs).toBeGreaterThanOrEqual(15_000);
  expect(tookOverMs).toBeLessThan(16_000);
});

test("leaseTransitions counts changes of holder, not renewals nor releases", async () => {
  const world = await SimulatedManagers.create();
  const transitions = async (): Promise<number | undefined> => {
    const lease = await world.client
      .resource(leases)
      .get("kubewright-controller-manager", { namespace: "kube-system" });
    return lease.spec?.leaseTransitions;
  };
  const first = world.start();
  await world.clock.advance(30_000);
  expect(await transitions()).toBe(0);
  first.stop();
  await world.clock.advance(1_000);
  expect(await transitions()).toBe(0);
  world.start();
  await world.clock.advance(30_000);
  expect(await transitions()).toBe(1);
});

function cutting(isCut: () => boolean): (transport: Transport) => Transport {
  return (transport) => (request) => (isCut() ? Promise.reject(new Error("cut off")) : transport(request));
}

test("a leader that loses its Lease exits, and writes nothing more, not even an event", async () => {
  const world = await SimulatedManagers.create();
  const manager = world.start();
  await world.clock.advance(1_000);
  const leaseClient = world.client.resource(leases);
  const lease = mutableCopy(await leaseClient.get("kubewright-controller-manager", { namespace: "kube-system" }));
  lease.spec = { ...lease.spec, holderIdentity: "somebody else" };
  await leaseClient.update(lease);
  await world.clock.advance(15_000);
  expect(manager.state()).toBe("leaderelection lost/stopped");
  const before = manager.requests.filter(isWrite).length;
  await world.createJob();
  await world.clock.advance(60_000);
  expect(manager.requests.filter(isWrite).slice(before)).toEqual([]);
  expect(await world.countPods()).toBe(0);
});

test("with the API server out of reach a leader ends when the renew deadline is over, and writes nothing after", async () => {
  const world = await SimulatedManagers.create();
  let cut = false;
  const manager = world.start({}, { wrap: cutting(() => cut) });
  await world.clock.advance(10_000);
  cut = true;
  await world.clock.advance(14_000);
  expect(manager.state()).toBe("leaderelection lost/stopped");
  cut = false;
  const before = manager.requests.length;
  await world.createJob();
  await world.clock.advance(60_000);
  expect(manager.requests.slice(before).filter(isWrite)).toEqual([]);
});

test("on shutdown, it finishes the pod creation in flight before it releases the Lease", async () => {
  const world = await SimulatedManagers.create();
  const held = Promise.withResolvers<void>();
  let posts = 0;
  const holding =
    (transport: Transport): Transport =>
    async (request) => {
      if (request.method === "POST" && request.path.endsWith("/pods")) {
        posts++;
        await held.promise;
      }
      return transport(request);
    };
  const manager = world.start({}, { wrap: holding });
  await world.clock.advance(1_000);
  await world.createJob();
  await world.clock.advance(2_000);
  expect(posts).toBeGreaterThan(0);
  manager.stop();
  await world.clock.advance(5_000);
  expect([manager.state(), await world.leaseHolder()]).toEqual(["running", expect.stringMatching(/^host_/)]);
  held.resolve();
  await world.clock.advance(1_000);
  expect([manager.state(), await world.leaseHolder(), await world.countPods()]).toEqual(["stopped", "", posts]);
});

test("a sync that never ends: after the shutdown timeout the process exits without releasing the Lease", async () => {
  const world = await SimulatedManagers.create();
  const hanging =
    (transport: Transport): Transport =>
    (request) =>
      request.method === "POST" && request.path.endsWith("/pods") ? new Promise(() => {}) : transport(request);
  const manager = world.start({}, { wrap: hanging });
  await world.clock.advance(1_000);
  await world.createJob();
  await world.clock.advance(2_000);
  manager.stop();
  await world.clock.advance(9_000);
  expect(manager.state()).toBe("running");
  await world.clock.advance(2_000);
  expect(manager.state()).toBe("controller shutdown timeout reached");
  expect(await world.leaseHolder()).toMatch(/^host_/);
  expect(manager.lines.at(-1)).toMatchObject({
    message: "Controller shutdown timeout reached",
    fields: { runningControllers: ["job-controller"] },
  });
  // The controller logs which reconcile hangs.
  expect(manager.lines.map(({ message }) => message)).toContain(
    "job-controller: reconciling default/pi did not end within 9.9 s of the stop signal",
  );
});

function sickFor(world: SimulatedManagers, untilMs: number): (transport: Transport) => Transport {
  return (transport) => async (request) =>
    request.path === "/healthz" && world.clock.monotonic() < untilMs
      ? { status: 503, headers: {}, body: { type: "decoded", value: "etcd failed" } }
      : transport(request);
}

test("an API server that is not healthy for twelve seconds ends the manager before it reads anything", async () => {
  const world = await SimulatedManagers.create();
  const manager = world.start({}, { wrap: sickFor(world, 12_000) });
  await world.clock.advance(20_000);
  expect(manager.state()).toMatch(/^failed to wait for apiserver being healthy: .*etcd failed$/);
  expect(manager.requests.filter(({ path }) => path.includes("/jobs"))).toEqual([]);
});

test("an API server that becomes healthy after five seconds is waited for", async () => {
  const world = await SimulatedManagers.create();
  const manager = world.start({}, { wrap: sickFor(world, 5_000) });
  await world.createJob();
  await world.clock.advance(9_000);
  expect([manager.state(), await world.countPods()]).toEqual(["running", 2]);
});

test("with a start interval, each controller starts between once and twice that time after leadership", async () => {
  const world = await SimulatedManagers.create();
  await world.createJob();
  const manager = world.start({ controllerStartIntervalMs: 10_000 });
  await world.clock.advance(9_500);
  expect(manager.lines.filter(({ message }) => message.startsWith("Starting "))).toEqual([]);
  expect(await world.countPods()).toBe(0);
  await world.clock.advance(11_000);
  const started = manager.lines.filter(({ message }) => message.startsWith("Starting "));
  expect(started).toHaveLength(NAMES.length);
  await world.clock.advance(2_000);
  expect(await world.countPods()).toBe(2);
  manager.stop();
  await world.clock.advance(1_000);
  expect(manager.state()).toBe("stopped");
});

test("objects are cached without managedFields, and written back with the rest untouched", async () => {
  const world = await SimulatedManagers.create();
  const manager = world.start({ leaderElect: false });
  await world.clock.advance(1_000);
  await world.createJob();
  await world.clock.advance(3_000);
  const written = manager.requests
    .filter(({ method, path }) => method === "PUT" && path.endsWith("/status"))
    .map(({ body }) => body);
  expect(written.length).toBeGreaterThan(0);
  expect(JSON.stringify(written)).not.toContain("managedFields");
});

test("every controller has a rate limit of its own", async () => {
  const world = await SimulatedManagers.create();
  const manager = world.start({ leaderElect: false, kubeApiQps: 1, kubeApiBurst: 1 });
  await world.clock.advance(1_000);
  await world.createJob();
  await world.clock.advance(500);
  const writes = (): number => manager.requests.filter(isWrite).length;
  const early = writes();
  await world.clock.advance(2_000);
  expect(writes() - early).toBeLessThanOrEqual(2);
  await world.clock.advance(10_000);
  expect(await world.countPods()).toBe(2);
});

test("a controller that cannot be built ends the manager before any controller has begun", async () => {
  const world = await SimulatedManagers.create();
  // Options that only validation rejects.
  const manager = world.start({ concurrentGcSyncs: 0 });
  await world.clock.advance(1_000);
  expect(manager.state()).toMatch(/^Error building controllers: garbage-collector-controller: /);
  expect(manager.lines.filter(({ message }) => message.startsWith("Starting "))).toEqual([]);
  expect(manager.requests.filter(({ path }) => path.startsWith("/apis/batch"))).toEqual([]);
});

test("without permission to read the Lease it keeps retrying, never leads, and logs that once", async () => {
  const world = await SimulatedManagers.create();
  const value = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "Forbidden", code: 403 };
  const forbidding =
    (transport: Transport): Transport =>
    async (request) =>
      request.path.includes("/leases/x")
        ? { status: 403, headers: {}, body: { type: "decoded", value } }
        : transport(request);
  const manager = world.start({ leaderElectResourceName: "x" }, { wrap: forbidding });
  await world.clock.advance(600_000);
  expect(manager.state()).toBe("running");
  expect(manager.requests.filter(({ path }) => path.includes("/jobs"))).toEqual([]);
  expect(manager.requests.filter(({ path }) => path.includes("/leases/x")).length).toBeGreaterThan(100);
  expect(manager.lines.filter(({ level }) => level !== "info")).toHaveLength(1);
});

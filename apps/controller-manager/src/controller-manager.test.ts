import { jobs, leases, mutableCopy, namespaces, pods } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client, isAlreadyExists } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { silentLogger } from "@kubewright/controller";
import type { ApiRequest, Transport } from "@kubewright/transport";
import { expect, test } from "vitest";

import { type ControllerManagerDeps, runControllerManager } from "./controller-manager.js";
import { type ControllerManagerOptions, completed, defaultOptions } from "./options.js";

interface Manager {
  readonly requests: readonly ApiRequest[];
  /** `running`, `stopped`, or the message it failed with. */
  readonly state: () => string;
  readonly stop: () => void;
}

/** An API server in this process, on a clock of its own, and managers of it. */
async function setUp(): Promise<{
  clock: SimulatedClock;
  client: Client;
  start: (options?: Partial<ControllerManagerOptions>, wrap?: (transport: Transport) => Transport) => Manager;
}> {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({ clock, random: seededRandom(1), freeze: true });
  const client = new Client({ transport: server.transport, clock });
  for (const name of ["default", "kube-system"]) {
    await client
      .resource(namespaces)
      .create({ metadata: { name } })
      .catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
  }
  let managers = 0;
  const start: Awaited<ReturnType<typeof setUp>>["start"] = (options = {}, wrap = (transport) => transport) => {
    const requests: ApiRequest[] = [];
    const inner = wrap(server.transport);
    const deps: ControllerManagerDeps = {
      options: completed({ ...defaultOptions, ...options }),
      transport: (request) => {
        requests.push(request);
        return inner(request);
      },
      clock,
      random: seededRandom(++managers),
      loggerFor: () => silentLogger,
      build: { version: "0.0.0", platform: "linux", arch: "x64" },
      hostname: "host",
      localTimeZone: "UTC",
    };
    const stop = new AbortController();
    let state = "running";
    runControllerManager(deps, stop.signal).then(
      () => (state = "stopped"),
      (error: unknown) => (state = (error as Error).message),
    );
    return { requests, state: () => state, stop: () => stop.abort(new Error("stop")) };
  };
  return { clock, client, start };
}

async function createJob(client: Client): Promise<void> {
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] } };
  await client
    .resource(jobs)
    .create({ metadata: { name: "pi", namespace: "default" }, spec: { completions: 2, parallelism: 2, template } });
}

async function countPods(client: Client): Promise<number> {
  return (await client.resource(pods).list()).items.length;
}

function isWrite({ method }: ApiRequest): boolean {
  return method !== "GET";
}

test("controllers work together on one watch of each resource, and stop when told to", async () => {
  const { clock, client, start } = await setUp();
  const manager = start();
  await clock.advance(1_000);
  await createJob(client);
  await clock.advance(3_000);
  expect(await countPods(client)).toBe(2);
  const watched = manager.requests
    .filter(({ path }) => path.includes("watch=true"))
    .map(({ path }) => path.split("?")[0]);
  expect(watched).toEqual([...new Set(watched)]);
  expect(watched).toEqual(expect.arrayContaining(["/api/v1/pods", "/apis/batch/v1/cronjobs", "/apis/batch/v1/jobs"]));
  expect(manager.state()).toBe("running");
  manager.stop();
  await clock.advance(1_000);
  expect(manager.state()).toBe("stopped");
});

test("--controllers chooses which resources are watched", async () => {
  const { clock, start } = await setUp();
  const manager = start({ controllers: ["*", "-cronjob", "-garbagecollector"], leaderElect: false });
  await clock.advance(1_000);
  expect(manager.requests.some(({ path }) => path.includes("/cronjobs"))).toBe(false);
  expect(manager.requests.some(({ path }) => path.includes("/leases"))).toBe(false);
  expect(manager.requests.some(({ path }) => path.includes("/jobs"))).toBe(true);
});

test("a standby asks for nothing but the Lease, and takes over at once when the leader stops", async () => {
  const { clock, client, start } = await setUp();
  const leader = start();
  await clock.advance(1_000);
  const standby = start();
  await clock.advance(60_000);
  expect(new Set(standby.requests.map(({ path }) => path))).toEqual(
    new Set(["/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager"]),
  );
  expect(standby.requests.filter(isWrite)).toEqual([]);
  leader.stop();
  await clock.advance(5_000);
  expect(leader.state()).toBe("stopped");
  await createJob(client);
  await clock.advance(3_000);
  expect(await countPods(client)).toBe(2);
});

test("a leader whose Lease is taken by somebody else ends, and writes nothing more", async () => {
  const { clock, client, start } = await setUp();
  const manager = start();
  await clock.advance(1_000);
  const leaseClient = client.resource(leases);
  const lease = mutableCopy(await leaseClient.get("kube-controller-manager", { namespace: "kube-system" }));
  lease.spec = { ...lease.spec, holderIdentity: "somebody else" };
  await leaseClient.update(lease);
  await clock.advance(15_000);
  expect(manager.state()).toBe("leaderelection lost/stopped");
  const before = manager.requests.filter(isWrite).length;
  await createJob(client);
  await clock.advance(10_000);
  expect(
    manager.requests
      .filter(isWrite)
      .slice(before)
      .filter(({ path }) => !path.includes("/events")),
  ).toEqual([]);
  expect(await countPods(client)).toBe(0);
});

test("an API server that is not healthy for twelve seconds ends the manager before it reads anything", async () => {
  const { clock, start } = await setUp();
  const sick =
    (transport: Transport): Transport =>
    async (request) =>
      request.path === "/healthz" && clock.monotonic() < 12_000
        ? { status: 503, headers: {}, body: { type: "decoded", value: "etcd failed" } }
        : transport(request);
  const manager = start({}, sick);
  await clock.advance(20_000);
  expect(manager.state()).toMatch(/^failed to wait for apiserver being healthy: .*etcd failed$/);
  expect(manager.requests.filter(({ path }) => path.includes("/jobs"))).toEqual([]);
});

test("with a start interval, each controller starts between once and twice that time after leadership", async () => {
  const { clock, client, start } = await setUp();
  await createJob(client);
  const manager = start({ controllerStartIntervalMs: 10_000 });
  await clock.advance(9_500);
  expect(await countPods(client)).toBe(0);
  await clock.advance(12_000);
  expect(await countPods(client)).toBe(2);
  manager.stop();
  await clock.advance(1_000);
  expect(manager.state()).toBe("stopped");
});

test("objects are cached without managedFields, and written back with the rest untouched", async () => {
  const { clock, client, start } = await setUp();
  const manager = start({ leaderElect: false });
  await clock.advance(1_000);
  await createJob(client);
  await clock.advance(3_000);
  const written = manager.requests
    .filter(({ method, path }) => method === "PUT" && path.endsWith("/status"))
    .map(({ body }) => body);
  expect(written.length).toBeGreaterThan(0);
  expect(JSON.stringify(written)).not.toContain("managedFields");
});

test("every controller has a rate limit of its own", async () => {
  const { clock, client, start } = await setUp();
  const manager = start({ leaderElect: false, kubeApiQps: 1, kubeApiBurst: 1 });
  await clock.advance(1_000);
  await createJob(client);
  await clock.advance(500);
  const writes = (): number => manager.requests.filter(isWrite).length;
  const early = writes();
  await clock.advance(2_000);
  expect(writes() - early).toBeLessThanOrEqual(2);
  await clock.advance(10_000);
  expect(await countPods(client)).toBe(2);
});

import { type Job, jobs, leases, nodes as nodeResource, pods } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { expect, onTestFinished, test } from "vitest";

import {
  type FaultyCluster,
  type FaultyClusterOptions,
  InvalidNodeError,
  createCluster,
  createFaultyCluster,
} from "./index.js";

const MINUTE = 60_000;

async function start(options: Partial<FaultyClusterOptions> = {}): Promise<{
  readonly clock: SimulatedClock;
  readonly cluster: FaultyCluster;
}> {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const cluster = createFaultyCluster({ clock, random: seededRandom(1), freeze: true, ...options });
  const stop = new AbortController();
  const running = cluster.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await clock.advance(0);
    await running;
  });
  await clock.settle();
  return { clock, cluster };
}

function job(name: string, spec: Partial<Job["spec"]> = {}): Job {
  const metadata = { annotations: { "sim.kubewright.dev/duration": "5m" } };
  const template = { metadata, spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] } };
  return { metadata: { namespace: "default", name }, spec: { template, ...spec } };
}

async function podCount(cluster: FaultyCluster): Promise<number> {
  return (await cluster.client("test").resource(pods).list()).items.length;
}

test("a write that a killed controller had not sent is not made, and its successor makes it", async () => {
  const { clock, cluster } = await start();
  cluster.faults.network({ components: ["job-controller"], delayMs: 1000 });
  await cluster
    .client("test")
    .resource(jobs)
    .create(job("a", { parallelism: 7, completions: 7 }));
  // Slow start: one pod, then two, then four, a second each.
  await clock.advance(2500);
  expect(await podCount(cluster)).toBe(3);
  cluster.faults.controllerDown("job-controller");
  await clock.advance(10 * MINUTE);
  expect(await podCount(cluster)).toBe(3);
  cluster.faults.controllerUp("job-controller");
  await clock.advance(20 * MINUTE);
  expect(await podCount(cluster)).toBe(7);
  const { status } = await cluster.client("test").resource(jobs).get("a", { namespace: "default" });
  expect(status).toMatchObject({ succeeded: 7 });
});

test("of several controller managers one leads, and when all are killed the next leader waits for the lease to run out", async () => {
  const { clock, cluster } = await start({ replicas: 3 });
  const holder = async (): Promise<string | undefined> =>
    (await cluster.client("test").resource(leases).get("kube-controller-manager", { namespace: "kube-system" })).spec
      ?.holderIdentity;
  await clock.advance(MINUTE);
  expect(await holder()).toBe("controller-manager-1_1");
  cluster.faults.controllerDown();
  await cluster.client("test").resource(jobs).create(job("a"));
  await clock.advance(MINUTE);
  expect(await podCount(cluster)).toBe(0);
  cluster.faults.controllerUp();
  await clock.advance(20_000);
  expect(await holder()).toMatch(/^controller-manager-\d_2$/);
  expect(await podCount(cluster)).toBe(1);
});

test("a leader that loses its lease exits, another takes over, and the first comes back as a candidate", async () => {
  const { clock, cluster } = await start({ replicas: 2 });
  await clock.advance(MINUTE);
  const lost = cluster.faults.loseLease();
  expect(lost?.leader).toBe("controller-manager-1");
  await clock.advance(40_000);
  lost!.end();
  await clock.advance(10_000);
  expect(cluster.faults.loseLease()?.leader).toBe("controller-manager-2");
  await clock.advance(40_000);
  expect(cluster.faults.loseLease()?.leader).toBe("controller-manager-1");
});

test("a cluster stops although its leader is paused", async () => {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const cluster = createFaultyCluster({ clock, random: seededRandom(1), replicas: 2 });
  const stop = new AbortController();
  let hasEnded = false;
  void cluster.run(stop.signal).then(() => (hasEnded = true));
  await clock.advance(MINUTE);
  cluster.faults.pause("controller-manager-1");
  await clock.advance(5_000);
  stop.abort();
  await clock.advance(MINUTE);
  expect(hasEnded).toBe(true);
});

test.each([createCluster, createFaultyCluster])("an invalid node fails the cluster immediately: %o", async (create) => {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const nodes = [{ name: "a", cpu: "-4", memory: "1Gi", pods: 1 }];
  const cluster = create({ clock, random: seededRandom(1), nodes });
  const [run, ready] = await Promise.allSettled([cluster.run(new AbortController().signal), cluster.ready()]);
  expect(run).toMatchObject({ status: "rejected", reason: expect.any(InvalidNodeError) });
  expect(ready).toMatchObject({ status: "rejected", reason: { message: expect.stringMatching(/Node "a" is.*-4/) } });
});

test("a node that comes back while the API server is down is noticed once the server is back", async () => {
  const { clock, cluster } = await start();
  const readiness = async (): Promise<string | undefined> => {
    const { status } = await cluster.client("test").resource(nodeResource).get("node-1");
    return status?.conditions?.find(({ type }) => type === "Ready")?.status;
  };
  cluster.faults.nodeLost("node-1");
  await clock.advance(2 * MINUTE);
  expect(await readiness()).toBe("Unknown");
  const end = cluster.faults.network({ down: true });
  const back = cluster.faults.nodeBack("node-1", new AbortController().signal);
  await clock.advance(2 * MINUTE);
  expect(await readiness()).toBe("Unknown");
  end();
  await clock.advance(MINUTE);
  await back;
  expect(await readiness()).toBe("True");
});

test("an unknown controller is reported with the known ones", async () => {
  const { cluster } = await start();
  const known = "job-controller, cronjob-controller, ttl-after-finished-controller, ";
  const message = `"job" is not a controller; there are ${known}`;
  const options = { clock: new SimulatedClock("2026-01-01T00:00:00Z"), random: seededRandom(1) };
  for (const create of [createCluster, createFaultyCluster])
    expect(() => create({ ...options, controllers: ["job-controller", "job" as never] })).toThrow(message);
  expect(() => cluster.faults.controllerDown("job")).toThrow(message);
  expect(() => cluster.faults.controllerUp("job")).toThrow(message);
});

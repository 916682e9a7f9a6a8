import { jobs, pods } from "@kubewright/api";
import { expect, test } from "vitest";

import { SimulatedManagers } from "../test/simulated-managers.js";

/** Terminates every running pod, and returns their number. */
async function failPods(world: SimulatedManagers): Promise<number> {
  const client = world.client.resource(pods);
  const running = (await client.list()).items.filter(({ status }) => status?.phase === "Pending");
  for (const { metadata } of running) {
    const body = { status: { phase: "Failed" } };
    await client.patch(metadata.name!, { type: "merge", body }, { namespace: "default", subresource: "status" });
  }
  return running.length;
}

test("--job-pod-failure-backoff-base and -max are the pauses before a failed pod is replaced", async () => {
  const world = await SimulatedManagers.create();
  world.start({
    jobPodFailureBackoffBaseMs: 100,
    jobPodFailureBackoffMaxMs: 400,
    jobSyncBatchPeriodMs: 10,
    leaderElect: false,
  });
  await world.clock.advance(1_000);
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] } };
  await world.client
    .resource(jobs)
    .create({ metadata: { name: "pi", namespace: "default" }, spec: { backoffLimit: 20, template } });
  await world.clock.advance(1_000);
  // With upstream's 10 s, 20 s, 40 s… only the first pod would exist by then. One second is for finish times in whole
  // seconds.
  for (let round = 0; round < 6; round++) {
    expect(await failPods(world)).toBe(1);
    await world.clock.advance(1_500);
  }
});

test("--job-max-pod-create-delete-per-sync bounds what one sync creates", async () => {
  const world = await SimulatedManagers.create();
  const manager = world.start({ jobMaxPodCreateDeletePerSync: 1, controllers: ["job"], leaderElect: false });
  await world.clock.advance(1_000);
  await world.createJob();
  await world.clock.advance(10_000);
  expect(await world.countPods()).toBe(2);
  const order = manager.requests
    .filter(
      ({ method, path }) =>
        (method === "POST" && path.endsWith("/pods")) || (method === "PUT" && path.endsWith("/status")),
    )
    .map(({ method }) => method);
  // A sync ends with its status write: one that creates both pods would write the status after the second pod.
  expect(order.slice(0, 3)).toEqual(["POST", "PUT", "POST"]);
});

test("--terminated-pod-gc-threshold=0 keeps terminated pods; orphaned ones are deleted after --podgc-quarantine", async () => {
  const world = await SimulatedManagers.create();
  const client = world.client.resource(pods);
  const spec = { containers: [{ name: "main", image: "busybox" }] };
  await client.create({ metadata: { name: "ended", namespace: "default" }, spec });
  await client.patch(
    "ended",
    { type: "merge", body: { status: { phase: "Succeeded" } } },
    {
      namespace: "default",
      subresource: "status",
    },
  );
  await client.create({ metadata: { name: "lost", namespace: "default" }, spec: { ...spec, nodeName: "gone" } });
  world.start({ terminatedPodGcThreshold: 0, podgcPeriodMs: 1_000, podgcQuarantineMs: 2_000, leaderElect: false });
  await world.clock.advance(6_000);
  expect((await client.list()).items.map(({ metadata }) => metadata.name)).toEqual(["ended"]);
});

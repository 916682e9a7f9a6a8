import { JOB_TRACKING_FINALIZER } from "@kubewright/api";
import { seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";

import { at, conditionsOf } from "../test/fixtures.js";
import { TestCluster, refusal } from "../test/test-cluster.js";
import type { PodObject } from "./job-spec.js";

const namesOf = (pods: readonly PodObject[]) => pods.map(({ metadata }) => metadata.name);
const tracked = (pods: readonly PodObject[]) =>
  pods.filter(({ metadata }) => metadata.finalizers?.includes(JOB_TRACKING_FINALIZER)).length;

test("a pod runs and succeeds, and the Job is complete a batch period later", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob();
  const [pod] = await cluster.pods();
  expect(await cluster.status()).toEqual({
    active: 1,
    ready: 0,
    terminating: 0,
    startTime: at(0),
    uncountedTerminatedPods: {},
  });
  await cluster.advance(2);
  await cluster.setPhase(pod!, "Running");
  await cluster.advance(1);
  expect(await cluster.status()).toMatchObject({ active: 1, ready: 1 });
  await cluster.advance(60);
  await cluster.setPhase(pod!, "Succeeded");
  expect(await cluster.status()).toMatchObject({ active: 1 });
  await cluster.advance(1);
  const status = await cluster.status();
  expect(status).toMatchObject({
    succeeded: 1,
    ready: 0,
    terminating: 0,
    completionTime: at(64),
    uncountedTerminatedPods: {},
  });
  expect(status.active).toBeUndefined();
  expect(conditionsOf(status as never)).toEqual([
    "SuccessCriteriaMet=True CompletionsReached",
    "Complete=True CompletionsReached",
  ]);
  expect(tracked(await cluster.pods())).toBe(0);
  expect(await cluster.eventTexts()).toEqual([
    `Normal SuccessfulCreate: Created pod: ${pod!.metadata.name}`,
    "Normal Completed: Job completed",
  ]);
  expect(cluster.requests).toEqual([
    "POST pods",
    "PUT jobs/job/status",
    "PUT jobs/job/status",
    "PUT jobs/job/status",
    `PATCH pods/${pod!.metadata.name}`,
    "PUT jobs/job/status",
  ]);
  await cluster.advance(3600);
  expect(cluster.requests).toHaveLength(6);
  expect(cluster.clock.pendingTimers).toBe(0);
  await cluster.close();
});

test("a failed pod is replaced ten seconds after it ended, and the second failure ends the Job", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob({ backoffLimit: 1 });
  await cluster.advance(5);
  await cluster.setPhase((await cluster.pods())[0]!, "Failed");
  await cluster.advance(1);
  expect(await cluster.status()).toMatchObject({ failed: 1 });
  await cluster.advance(8.9);
  expect(await cluster.pods()).toHaveLength(1);
  await cluster.advance(0.1);
  expect(await cluster.pods()).toHaveLength(2);
  await cluster.setPhase((await cluster.activePods())[0]!, "Failed");
  await cluster.advance(1);
  const status = await cluster.status();
  expect(status).toMatchObject({ failed: 2 });
  expect(conditionsOf(status as never)).toEqual([
    "FailureTarget=True BackoffLimitExceeded",
    "Failed=True BackoffLimitExceeded",
  ]);
  expect((await cluster.eventTexts()).at(-1)).toBe(
    "Warning BackoffLimitExceeded: Job has reached the specified backoff limit",
  );
  await cluster.close();
});

test("suspending deletes the pods, resuming creates them and restarts the active time", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob({ parallelism: 2, completions: 4 });
  await cluster.advance(10);
  const before = namesOf(await cluster.pods());
  await cluster.patchJob({ spec: { suspend: true } });
  const suspended = await cluster.status();
  expect(conditionsOf(suspended as never)).toEqual(["Suspended=True JobSuspended"]);
  expect([suspended.startTime, suspended.active, suspended.failed]).toEqual([undefined, undefined, undefined]);
  await cluster.advance(20);
  expect(await cluster.activePods()).toEqual([]);
  expect(await cluster.status()).toMatchObject({ terminating: 0 });
  await cluster.patchJob({ spec: { suspend: false } });
  expect(await cluster.status()).toMatchObject({ active: 2, startTime: at(30) });
  expect(namesOf(await cluster.activePods())).not.toEqual(before);
  const suspensionEvents = (await cluster.eventTexts()).filter((event) => !event.includes("pod"));
  expect(suspensionEvents).toEqual(["Normal Suspended: Job suspended", "Normal Resumed: Job resumed"]);
  await cluster.close();
});

test("a deadline that passes fails the Job, exactly then", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob({ activeDeadlineSeconds: 30, parallelism: 2, completions: 2 });
  await cluster.advance(29);
  expect(await cluster.activePods()).toHaveLength(2);
  await cluster.advance(3);
  const status = await cluster.status();
  expect(status).toMatchObject({ failed: 2 });
  expect(conditionsOf(status as never)).toEqual([
    "FailureTarget=True DeadlineExceeded",
    "Failed=True DeadlineExceeded",
  ]);
  await cluster.close();
});

test("an indexed Job retries an index by itself and gives it up after its limit", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob({ completionMode: "Indexed", completions: 2, parallelism: 2, backoffLimitPerIndex: 1 });
  await cluster.advance(2);
  const [first, other] = await cluster.pods();
  expect([first, other].map((pod) => pod!.spec?.hostname)).toEqual(["job-0", "job-1"]);
  await cluster.setPhase(first!, "Failed");
  await cluster.advance(2);
  expect(await cluster.status()).toMatchObject({ active: 1, failedIndexes: "" });
  expect((await cluster.status()).failed).toBeUndefined();
  expect(tracked(await cluster.pods())).toBe(2);
  await cluster.advance(10);
  expect(await cluster.status()).toMatchObject({ active: 2, failed: 1 });
  const retry = (await cluster.activePods()).find(({ spec }) => spec?.hostname === "job-0")!;
  expect(retry.metadata.annotations).toMatchObject({ "batch.kubernetes.io/job-index-failure-count": "1" });
  await cluster.setPhase(retry, "Failed");
  await cluster.advance(1);
  expect(await cluster.status()).toMatchObject({ active: 1, failed: 2, failedIndexes: "0" });
  await cluster.setPhase(other!, "Succeeded");
  await cluster.advance(1);
  const status = await cluster.status();
  expect(status).toMatchObject({ succeeded: 1, completedIndexes: "1", failedIndexes: "0" });
  expect(conditionsOf(status as never)).toEqual(["FailureTarget=True FailedIndexes", "Failed=True FailedIndexes"]);
  await cluster.close();
});

test("a restarted controller continues where the last one stopped", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob({ parallelism: 3, completions: 3 });
  await cluster.advance(2);
  const [a, b] = await cluster.pods();
  await cluster.stop();
  await cluster.setPhase(a!, "Succeeded");
  await cluster.setPhase(b!, "Failed");
  await cluster.startController();
  await cluster.advance(1);
  expect(await cluster.status()).toMatchObject({ succeeded: 1, failed: 1, uncountedTerminatedPods: {} });
  await cluster.close();
});

test.each([1, 2, 3, 4, 5, 6])("a crash at write %d of the accounting loses and doubles nothing", async (survived) => {
  const cluster = await TestCluster.start();
  await cluster.createJob({ parallelism: 3, completions: 3, backoffLimit: 9 });
  await cluster.advance(2);
  const [a, b, c] = await cluster.pods();
  let writes = 0;
  let crash = true;
  cluster.network = ({ method }) => {
    if (method === "GET" || !crash || ++writes < survived) return undefined;
    return refusal(500, "InternalError");
  };
  await cluster.setPhase(a!, "Succeeded");
  await cluster.setPhase(b!, "Failed");
  await cluster.setPhase(c!, "Succeeded");
  await cluster.advance(1);
  await cluster.stop();
  crash = false;
  await cluster.startController();
  await cluster.advance(15);
  expect(await cluster.status()).toMatchObject({ succeeded: 2, failed: 1, active: 1, uncountedTerminatedPods: {} });
  expect(tracked(await cluster.pods())).toBe(1);
  await cluster.close();
});

test("a deleted Job's pods lose the finalizer that would keep them", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob({ parallelism: 2, completions: 2 });
  const [pod] = await cluster.pods();
  await cluster.deleteJob();
  await cluster.deletePod(pod!, 0);
  await cluster.advance(5);
  expect(namesOf(await cluster.pods())).not.toContain(pod!.metadata.name);
  const [orphan] = await cluster.pods();
  await cluster.patchPod(orphan!, { metadata: { ownerReferences: null } });
  await cluster.advance(5);
  expect(namesOf(await cluster.pods())).toEqual([orphan!.metadata.name]);
  expect(tracked(await cluster.pods())).toBe(0);
  await cluster.close();
});

test("a pod that was terminating when its Job was deleted loses its finalizer, though the first attempt is refused and no event arrives", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob();
  const [pod] = await cluster.pods();
  let refused = 0;
  cluster.network = ({ method, path }) => {
    if (method !== "PATCH" || !path.includes("/pods/") || refused++ > 0) return undefined;
    const value = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 500, message: "no" };
    return { status: 500, headers: {}, body: { type: "decoded", value } };
  };
  await cluster.deletePod(pod!, 0);
  await cluster.deleteJob();
  await cluster.advance(5);
  expect(refused).toBe(2);
  expect(await cluster.pods()).toEqual([]);
  await cluster.close();
});

test("an orphan pod that matches is adopted, and a relabelled pod is released and replaced", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob({ parallelism: 2, completions: 2 });
  await cluster.advance(2);
  const [pod] = await cluster.pods();
  await cluster.patchPod(pod!, { metadata: { labels: { who: "else" } } });
  await cluster.advance(1);
  expect(await cluster.pods()).toHaveLength(3);
  const released = (await cluster.pods()).find(({ metadata }) => metadata.name === pod!.metadata.name)!;
  expect([released.metadata.ownerReferences ?? [], released.metadata.finalizers ?? []]).toEqual([[], []]);

  await cluster.advance(1);
  await cluster.createPod({
    metadata: { name: "stray", labels: { who: "job" } },
    spec: { restartPolicy: "Never", containers: [{ name: "main", image: "x" }] },
  });
  await cluster.advance(1);
  expect(cluster.requests).toContain("PATCH pods/stray");
  // There is one surplus pod now: the youngest is removed.
  const active = namesOf(await cluster.activePods());
  expect(active.filter((name) => name !== pod!.metadata.name)).toHaveLength(2);
  expect(active).not.toContain("stray");
  await cluster.close();
});

test("a refused creation is tried again after one, two and four seconds", async () => {
  const cluster = await TestCluster.start();
  const times: number[] = [];
  cluster.network = ({ method, path }) => {
    if (method !== "POST" || !path.includes("/pods")) return undefined;
    times.push(cluster.clock.monotonic() / 1000);
    return refusal(403, "Forbidden");
  };
  await cluster.createJob({ parallelism: 0, completions: 1 });
  await cluster.advance(30);
  await cluster.patchJob({ spec: { parallelism: 1 } });
  await cluster.advance(16);
  expect(times.map((time) => time - times[0]!)).toEqual([0, 1, 3, 7, 15]);
  await cluster.close();
});

test("a run is the same every time", async () => {
  const simulate = async (): Promise<string[]> => {
    const cluster = await TestCluster.start();
    await cluster.createJob({ parallelism: 20, completions: 40 });
    for (let round = 0; round < 6; round++) {
      await cluster.advance(3);
      for (const [number, pod] of (await cluster.activePods()).entries())
        await cluster.setPhase(pod, number % 5 === 0 ? "Failed" : "Succeeded");
    }
    await cluster.advance(60);
    await cluster.close();
    return cluster.requests;
  };
  expect(await simulate()).toEqual(await simulate());
});

test.each(Array.from({ length: 12 }, (_, seed) => seed + 1))(
  "faults and restarts lose and double nothing, seed %d",
  async (seed) => {
    const random = seededRandom(seed);
    const cluster = await TestCluster.start();
    const faulty = { rate: 0.25 };
    cluster.network = async (request, serve) => {
      const fails = request.method !== "GET" && random.next() < faulty.rate;
      if (!fails) return serve(request);
      // Rejected, or performed with the response lost.
      if (random.next() < 0.5) await serve(request);
      return random.next() < 0.5 ? refusal(500, "InternalError") : refusal(409, "Conflict");
    };
    const isIndexed = seed % 2 === 0;
    await cluster.createJob({
      parallelism: 5,
      completions: 15,
      backoffLimit: 1000,
      completionMode: isIndexed ? "Indexed" : "NonIndexed",
    });
    for (let round = 0; round < 40; round++) {
      await cluster.advance(1 + Math.floor(random.next() * 5));
      for (const pod of await cluster.activePods()) {
        const fraction = random.next();
        if (fraction < 0.5) await cluster.setPhase(pod, fraction < 0.1 ? "Failed" : "Succeeded");
      }
      if (random.next() < 0.1) {
        await cluster.stop();
        await cluster.startController();
      }
    }
    faulty.rate = 0;
    for (let round = 0; round < 60; round++) {
      await cluster.advance(60);
      for (const pod of await cluster.activePods()) await cluster.setPhase(pod, "Succeeded");
    }
    const pods = await cluster.pods();
    const ended = (phase: string): number => pods.filter(({ status }) => status?.phase === phase).length;
    const status = await cluster.status();
    expect(conditionsOf(status as never).at(-1)).toBe("Complete=True CompletionsReached");
    expect(status.succeeded).toBe(isIndexed ? 15 : ended("Succeeded"));
    expect(status.failed ?? 0).toBe(ended("Failed"));
    expect(status.uncountedTerminatedPods).toEqual({});
    expect(tracked(pods)).toBe(0);
    await cluster.close();
  },
);

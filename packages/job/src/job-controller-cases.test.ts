import { JOB_TRACKING_FINALIZER } from "@kubewright/api";
import { expect, test } from "vitest";

import { at, conditionsOf } from "../test/fixtures.js";
import { TestCluster, refusal } from "../test/test-cluster.js";
import type { PodObject } from "./job-spec.js";

const isTracked = ({ metadata }: PodObject): boolean => metadata.finalizers?.includes(JOB_TRACKING_FINALIZER) ?? false;
const trackedCount = (pods: readonly PodObject[]): number => pods.filter(isTracked).length;
const HELD = { metadata: { finalizers: [JOB_TRACKING_FINALIZER, "test/held"] } };
/** Deletes a running pod as a user does: the pod stays terminating. */
async function terminate(cluster: TestCluster, pod: PodObject): Promise<void> {
  await cluster.setPhase(pod, "Running");
  await cluster.patchPod(pod, HELD);
  await cluster.deletePod(pod, 30);
}

test("a Job created suspended has no pods and no start time until it is resumed", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob({ suspend: true, parallelism: 2, completions: 2, activeDeadlineSeconds: 20 });
  await cluster.advance(60);
  expect(await cluster.pods()).toEqual([]);
  const suspended = await cluster.status();
  expect(conditionsOf(suspended as never)).toEqual(["Suspended=True JobSuspended"]);
  expect(suspended.startTime).toBeUndefined();
  await cluster.patchJob({ spec: { suspend: false } });
  const resumed = await cluster.status();
  expect(conditionsOf(resumed as never)).toEqual(["Suspended=False JobResumed"]);
  expect(resumed).toMatchObject({ active: 2, startTime: at(60) });
  // The suspended time does not count toward the deadline.
  await cluster.advance(19);
  expect(await cluster.activePods()).toHaveLength(2);
  await cluster.advance(2);
  expect(conditionsOf((await cluster.status()) as never)).toContain("FailureTarget=True DeadlineExceeded");
  expect((await cluster.eventTexts()).filter((event) => event.includes("Job "))).toEqual([
    "Normal Suspended: Job suspended",
    "Normal Resumed: Job resumed",
    "Warning DeadlineExceeded: Job was active longer than specified deadline",
  ]);
  await cluster.close();
});

test("terminating pods hold their places until they have failed, where only failed pods are replaced", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob({ parallelism: 2, completions: 2, podReplacementPolicy: "Failed" });
  await cluster.advance(2);
  for (const pod of await cluster.pods()) await terminate(cluster, pod);
  await cluster.advance(1);
  expect(await cluster.status()).toMatchObject({ terminating: 2 });
  expect([(await cluster.status()).active, (await cluster.status()).failed]).toEqual([undefined, undefined]);
  await cluster.advance(15);
  expect(await cluster.pods()).toHaveLength(2);
  for (const pod of await cluster.pods()) await cluster.setPhase(pod, "Failed");
  await cluster.advance(1);
  expect(await cluster.status()).toMatchObject({ failed: 2, terminating: 0 });
  expect(await cluster.activePods()).toEqual([]);
  await cluster.advance(20);
  expect(await cluster.activePods()).toHaveLength(2);
  expect(cluster.metrics.take()).toMatchObject({
    "podCreated new succeeded": 2,
    "podCreated recreate_failed succeeded": 2,
  });
  await cluster.close();
});

test("a Job that replaces only failed pods, resumed while its pods terminate, waits for them", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob({ podReplacementPolicy: "Failed" });
  await cluster.advance(2);
  const [pod] = await cluster.pods();
  await cluster.setPhase(pod!, "Running");
  await cluster.patchPod(pod!, HELD);
  await cluster.patchJob({ spec: { suspend: true } });
  await cluster.patchJob({ spec: { suspend: false } });
  await cluster.advance(5);
  expect(conditionsOf((await cluster.status()) as never)).toEqual(["Suspended=False JobResumed"]);
  expect(await cluster.activePods()).toEqual([]);
  await cluster.patchPod(pod!, { metadata: { finalizers: null } });
  await cluster.deletePod(pod!, 0).catch(() => undefined);
  await cluster.advance(2);
  expect(await cluster.activePods()).toHaveLength(1);
  await cluster.close();
});

test("an elastic Job may shrink below what has succeeded, and the counters only grow", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob({ completionMode: "Indexed", completions: 3, parallelism: 3 });
  await cluster.advance(2);
  const [, , last] = await cluster.pods();
  await cluster.setPhase(last!, "Succeeded");
  await cluster.advance(1);
  expect(await cluster.status()).toMatchObject({ succeeded: 1, completedIndexes: "2" });
  await cluster.patchJob({ spec: { completions: 2, parallelism: 2 } });
  await cluster.advance(1);
  expect((await cluster.status()).succeeded).toBeUndefined();
  await cluster.patchJob({ spec: { completions: 3, parallelism: 3 } });
  await cluster.advance(1);
  expect((await cluster.activePods()).map(({ spec }) => spec?.hostname)).toEqual(["job-0", "job-1", "job-2"]);
  expect(cluster.metrics.take()).toMatchObject({ "podsFinished Indexed succeeded": 1 });
  await cluster.close();
});

test("a failed pod that a user deletes stays until its successor carries its count", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob({ completionMode: "Indexed", completions: 1, backoffLimitPerIndex: 2 });
  await cluster.advance(2);
  const [pod] = await cluster.pods();
  await cluster.setPhase(pod!, "Failed");
  await cluster.advance(1);
  await cluster.deletePod(pod!, 0);
  await cluster.advance(5);
  expect(trackedCount(await cluster.pods())).toBe(1);
  await cluster.advance(10);
  const pods = await cluster.pods();
  expect(pods.map(({ metadata }) => metadata.annotations?.["batch.kubernetes.io/job-index-failure-count"])).toEqual([
    "1",
  ]);
  expect(await cluster.status()).toMatchObject({ failed: 1, active: 1 });
  await cluster.close();
});

test("a Job of the name of one just deleted starts without its backoff", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob({ backoffLimit: 9 });
  for (let failures = 0; failures < 3; failures++) {
    await cluster.advance(100);
    await cluster.setPhase((await cluster.activePods())[0]!, "Failed");
  }
  await cluster.advance(1);
  expect(await cluster.activePods()).toEqual([]);
  await cluster.deleteJob();
  await cluster.createJob({ backoffLimit: 9 });
  expect(await cluster.activePods()).toHaveLength(1);
  await cluster.close();
});

test("a Job deleted while no controller ran leaves no pod held by the finalizer", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob({ parallelism: 2, completions: 2 });
  await cluster.advance(2);
  await cluster.stop();
  await cluster.deleteJob();
  for (const pod of await cluster.pods()) await cluster.deletePod(pod, 0);
  expect(trackedCount(await cluster.pods())).toBe(2);
  await cluster.startController();
  await cluster.advance(1);
  expect(await cluster.pods()).toEqual([]);
  await cluster.close();
});

test("a controller that starts syncs each unfinished Job at once, and asks nothing for finished ones", async () => {
  const cluster = await TestCluster.start();
  await cluster.stop();
  for (let number = 0; number < 1000; number++) await cluster.createJob({ parallelism: 0 }, { name: `open-${number}` });
  await cluster.startController();
  expect(cluster.decisions).toHaveLength(1000);
  expect(new Set(cluster.decisions.map(({ key }) => key)).size).toBe(1000);
  expect(cluster.clock.monotonic()).toBe(0);
  await cluster.close();

  const done = await TestCluster.start();
  for (let number = 0; number < 20; number++) await done.createJob({ completions: 0 }, { name: `done-${number}` });
  await done.advance(5);
  await done.stop();
  done.requests.length = 0;
  await done.startController();
  await done.advance(60);
  expect(done.requests).toEqual([]);
  await done.close();
});

test("a Job managed elsewhere is left alone, its pods' finalizers too, and counted each time it is first seen", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob({ managedBy: "example.com/other" });
  await cluster.advance(5);
  expect(cluster.requests).toEqual([]);
  await cluster.stop();
  await cluster.startController();
  expect(cluster.metrics.take()).toEqual({ "externalJobAdded example.com/other": 2 });
  await cluster.deleteJob();
  await cluster.createJob({ managedBy: "kubernetes.io/job-controller" });
  expect(await cluster.activePods()).toHaveLength(1);
  await cluster.close();
});

test("after a success the retries of a Job start over, and they never wait longer than a minute", async () => {
  const cluster = await TestCluster.start();
  const times: number[] = [];
  let refuses = true;
  cluster.network = ({ method, path }) => {
    if (method !== "POST" || !path.includes("/pods") || !refuses) return undefined;
    times.push(cluster.clock.monotonic() / 1000);
    return refusal(403, "Forbidden");
  };
  const waits = (): number[] => times.slice(1).map((time, position) => time - times[position]!);
  await cluster.createJob({ parallelism: 0, completions: 4 });
  await cluster.advance(30);
  await cluster.patchJob({ spec: { parallelism: 1 } });
  await cluster.advance(250);
  expect(waits()).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  refuses = false;
  await cluster.advance(60);
  expect(await cluster.activePods()).toHaveLength(1);
  await cluster.advance(10);
  refuses = true;
  times.length = 0;
  await cluster.patchJob({ spec: { parallelism: 2 } });
  await cluster.advance(2);
  expect(waits()).toEqual([1]);
  await cluster.close();
});

test("a Job in foreground deletion removes its pods' finalizers, counts the ended pod, and creates nothing", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob({ parallelism: 2, completions: 4 });
  await cluster.advance(2);
  const [ended] = await cluster.pods();
  await cluster.setPhase(ended!, "Succeeded");
  await cluster.deleteJob("Foreground");
  await cluster.advance(2);
  expect(await cluster.status()).toMatchObject({ succeeded: 1 });
  expect((await cluster.status()).failed).toBeUndefined();
  expect(await cluster.pods()).toHaveLength(2);
  expect(trackedCount(await cluster.pods())).toBe(0);
  await cluster.close();
});

/** Rejects the removal of finalizers until the returned function is called. */
function refuseFinalizerRemoval(cluster: TestCluster): () => void {
  cluster.network = ({ method, path }) =>
    method === "PATCH" && path.includes("/pods/") ? refusal(500, "InternalError") : undefined;
  return () => (cluster.network = () => undefined);
}

test("a pod that was recorded as succeeded, and is reported as failed before its finalizer is removed, has succeeded", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob({ parallelism: 1, completions: 2, backoffLimit: 0 });
  const [pod] = await cluster.pods();
  const allow = refuseFinalizerRemoval(cluster);
  await cluster.setPhase(pod!, "Succeeded");
  await cluster.advance(1);
  expect(await cluster.status()).toMatchObject({ uncountedTerminatedPods: { succeeded: [pod!.metadata.uid] } });
  await cluster.setPhase(pod!, "Failed");
  await cluster.advance(5);
  allow();
  await cluster.advance(60);
  const status = await cluster.status();
  expect(status).toMatchObject({ active: 1, succeeded: 1, uncountedTerminatedPods: {} });
  expect([status.failed, status.conditions]).toEqual([undefined, undefined]);
  expect(cluster.logged.filter(({ fields }) => JSON.stringify(fields).includes("Duplicate"))).toEqual([]);
  await cluster.close();
});

test("an index whose pod was recorded as failed, and succeeds before its finalizer is removed, has failed", async () => {
  const cluster = await TestCluster.start();
  await cluster.createJob({
    completionMode: "Indexed",
    parallelism: 2,
    completions: 2,
    backoffLimitPerIndex: 0,
  });
  const [pod] = await cluster.pods();
  const allow = refuseFinalizerRemoval(cluster);
  await cluster.setPhase(pod!, "Running");
  await cluster.deletePod(pod!, 30);
  await cluster.advance(1);
  expect(await cluster.status()).toMatchObject({ failedIndexes: "0", active: 1 });
  await cluster.setPhase(pod!, "Succeeded");
  await cluster.advance(5);
  allow();
  await cluster.advance(60);
  const status = await cluster.status();
  expect(status).toMatchObject({ failedIndexes: "0", failed: 1, active: 1, uncountedTerminatedPods: {} });
  expect([status.completedIndexes, status.succeeded]).toEqual([undefined, undefined]);
  expect(cluster.logged.filter(({ fields }) => JSON.stringify(fields).includes("overlap"))).toEqual([]);
  await cluster.close();
});

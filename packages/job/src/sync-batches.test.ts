import type { JobSpec, ObjectKey } from "@kubewright/api";
import { SimulatedClock } from "@kubewright/clock";
import { ItemExponentialFailureRateLimiter, RateLimitingQueue } from "@kubewright/workqueue";
import { expect, test } from "vitest";

import { TestCluster, type TestClusterOptions, refusal } from "../test/test-cluster.js";
import type { Script } from "../test/scripted-kubelet.js";
import { AdaptiveBatches } from "./sync-batches.js";

const adaptive = { syncBatchPeriodMs: "adaptive" } as const;
const statusWrites = ({ requests }: TestCluster): number =>
  requests.filter((request) => request === "PUT jobs/job/status").length;

test("once all pods of a Job have ended, it is synced at once", async () => {
  const cluster = await TestCluster.start(adaptive);
  await cluster.createJob({ parallelism: 2, completions: 4 });
  const [first, second] = await cluster.pods();
  await cluster.setPhase(first!, "Succeeded");
  expect(await cluster.status()).toMatchObject({ active: 2 });
  await cluster.advance(0.3);
  await cluster.setPhase(second!, "Succeeded");
  expect(await cluster.status()).toMatchObject({ active: 2, succeeded: 2 });
  for (const pod of await cluster.activePods()) await cluster.setPhase(pod, "Succeeded");
  expect((await cluster.status()).completionTime).toBe("2026-01-01T00:00:00Z");
  expect(cluster.clock.pendingTimers).toBe(0);
  await cluster.close();
});

test("while a pod is unfinished, events are gathered for a second and no longer", async () => {
  const cluster = await TestCluster.start(adaptive);
  await cluster.createJob({ parallelism: 3, completions: 3 });
  await cluster.advance(10);
  const [first, second] = await cluster.pods();
  await cluster.setPhase(first!, "Succeeded");
  await cluster.advance(0.9);
  await cluster.setPhase(second!, "Succeeded");
  expect((await cluster.status()).succeeded).toBeUndefined();
  await cluster.advance(0.1);
  expect(await cluster.status()).toMatchObject({ active: 1, succeeded: 2 });
  await cluster.close();
});

test("a terminating pod is waited for, as its end will be news", async () => {
  const cluster = await TestCluster.start(adaptive);
  await cluster.createJob({ podReplacementPolicy: "Failed" });
  const [pod] = await cluster.pods();
  await cluster.setPhase(pod!, "Running");
  await cluster.advance(5);
  await cluster.patchPod(pod!, { metadata: { finalizers: ["batch.kubernetes.io/job-tracking", "test/keep"] } });
  await cluster.deletePod(pod!, 30);
  const before = statusWrites(cluster);
  await cluster.advance(0.9);
  expect(statusWrites(cluster)).toBe(before);
  await cluster.advance(0.2);
  expect(await cluster.status()).toMatchObject({ terminating: 1 });
  await cluster.close();
});

test("a sync that failed is tried again when the queue says so, whatever it has written", async () => {
  const cluster = await TestCluster.start(adaptive);
  cluster.network = ({ method, path }) =>
    method === "POST" && path.endsWith("/pods") ? refusal(403, "Forbidden") : undefined;
  await cluster.createJob();
  const creations = () => cluster.requests.filter((request) => request === "POST pods").length;
  expect(creations()).toBe(1);
  await cluster.advance(0.999);
  expect(creations()).toBe(1);
  await cluster.advance(0.001);
  expect(creations()).toBe(2);
  await cluster.close();
});

test("a Job is not synced before the cache shows what was written for it, however quiet its pods are", async () => {
  const cluster = await TestCluster.start(adaptive);
  await cluster.stop();
  async function* late(events: AsyncIterable<unknown>): AsyncIterable<unknown> {
    for await (const event of events) {
      await cluster.clock.sleep(300);
      yield event;
    }
  }
  cluster.network = async (request, serve) => {
    const answer = await serve(request);
    if (!request.path.includes("/jobs") || answer.body.type !== "events") return answer;
    return { ...answer, body: { type: "events", events: late(answer.body.events) } };
  };
  await cluster.runKubelet(() => ({ endsAfterMs: 0 }));
  await cluster.startController();
  await cluster.advance(5);
  await cluster.createJob();
  await cluster.advance(0.6);
  expect((await cluster.status()).completionTime).toBeDefined();
  expect(cluster.logged.filter(({ level }) => level === "error")).toEqual([]);
  await cluster.close();
});

test("a batch can be cancelled unless a sync is under way or due", async () => {
  const clock = new SimulatedClock(0);
  const rateLimiter = new ItemExponentialFailureRateLimiter<ObjectKey>({ baseDelayMs: 1000, maxDelayMs: 60_000 });
  const queue = new RateLimitingQueue({ clock, rateLimiter });
  const batches = new AdaptiveBatches({ queue, clock, isQuiet: () => false, forgetEnded: () => false });
  const key = "ns/job" as ObjectKey;
  batches.add(key);
  expect(batches.cancel(key)).toBe(true);
  await batches.runSync(key, async () => {
    batches.add(key);
    expect(batches.cancel(key)).toBe(false);
  });
  expect(queue.length).toBe(0);
  await clock.advance(1000);
  expect(queue.length).toBe(1);
  queue.addRateLimited("ns/failing" as ObjectKey);
  expect(batches.cancel("ns/failing" as ObjectKey)).toBe(false);
});

test("a sync answers what was gathered before it, and what comes while one fails waits for the period", async () => {
  const clock = new SimulatedClock(0);
  const rateLimiter = new ItemExponentialFailureRateLimiter<ObjectKey>({ baseDelayMs: 1000, maxDelayMs: 60_000 });
  const queue = new RateLimitingQueue({ clock, rateLimiter });
  const batches = new AdaptiveBatches({ queue, clock, isQuiet: () => false, forgetEnded: () => false });
  const key = "ns/job" as ObjectKey;
  batches.add(key);
  expect(await batches.runSync(key, async () => "synced")).toBe("synced");
  await clock.advance(5000);
  expect(queue.length).toBe(0);
  const refused = async (): Promise<void> => {
    await clock.sleep(700);
    batches.add(key);
    throw new Error("refused");
  };
  const failing = batches.runSync(key, refused).catch((error: unknown) => error);
  await clock.advance(1699);
  expect(await failing).toEqual(new Error("refused"));
  expect(queue.length).toBe(0);
  await clock.advance(1);
  expect(queue.length).toBe(1);
});

test("an event during the sync that ends a Job makes the controller forget the Job, and does not sync it again", async () => {
  const clock = new SimulatedClock(0);
  const rateLimiter = new ItemExponentialFailureRateLimiter<ObjectKey>({ baseDelayMs: 1000, maxDelayMs: 60_000 });
  const queue = new RateLimitingQueue({ clock, rateLimiter });
  const ended = new Set<ObjectKey>();
  const forgotten: ObjectKey[] = [];
  const forgetEnded = (key: ObjectKey): boolean => ended.has(key) && forgotten.push(key) > 0;
  const batches = new AdaptiveBatches({ queue, clock, isQuiet: () => true, forgetEnded });
  const addDuring = (key: ObjectKey): Promise<void> => batches.runSync(key, async () => batches.add(key));
  const [ending, unfinished] = ["ns/ending", "ns/going-on"] as ObjectKey[];
  ended.add(ending!);
  await addDuring(ending!);
  await clock.advance(1000);
  expect([forgotten, queue.length]).toEqual([[ending], 0]);
  await addDuring(unfinished!);
  expect([forgotten, queue.length]).toEqual([[ending], 1]);
});

/** Durations of the pods in seconds, repeated cyclically. */
const lasting =
  (...seconds: number[]): Script =>
  (nth) => ({ readyAfterMs: 100, endsAfterMs: seconds[nth % seconds.length]! * 1000 });

test.each<[string, Partial<JobSpec>, Script]>([
  ["one pod after another, each done at once", { parallelism: 1, completions: 20 }, () => ({ endsAfterMs: 0 })],
  ["one pod after another, of 1.5 s", { parallelism: 1, completions: 20 }, lasting(1.5)],
  ["waves of equal pods", { parallelism: 10, completions: 60 }, lasting(0.7)],
  ["a trickle", { parallelism: 10, completions: 60 }, lasting(0.2, 0.5, 0.9, 1.3, 2.1, 3.4)],
  ["a straggler in every wave", { parallelism: 5, completions: 40 }, lasting(0.1, 0.1, 0.1, 0.1, 5)],
  ["indexes", { parallelism: 10, completions: 60, completionMode: "Indexed" }, lasting(0.3, 0.6)],
  ["failures", { completions: 5, backoffLimit: 50 }, (nth) => ({ endsAfterMs: 200, exitCode: nth % 3 === 0 ? 1 : 0 })],
])("adaptive batches are never slower, and never write the status more often: %s", async (_, spec, script) => {
  const run = async (options: TestClusterOptions) => {
    const cluster = await TestCluster.start(options);
    await cluster.runKubelet(script);
    await cluster.createJob(spec);
    while ((await cluster.status()).completionTime === undefined) await cluster.advance(1);
    const seconds = (Date.parse((await cluster.status()).completionTime!) - Date.parse("2026-01-01T00:00:00Z")) / 1000;
    const result = { writes: statusWrites(cluster), seconds };
    await cluster.close();
    return result;
  };
  const fixed = await run({});
  const ours = await run(adaptive);
  expect(ours.writes).toBeLessThanOrEqual(fixed.writes);
  expect(ours.seconds).toBeLessThanOrEqual(fixed.seconds);
});

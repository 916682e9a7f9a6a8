import { type ObjectKey, type Pod, keyOf, mutableCopy } from "@kubewright/api";
import { SimulatedClock } from "@kubewright/clock";
import { silentLogger } from "@kubewright/controller";
import { ItemExponentialFailureRateLimiter, RateLimitingQueue } from "@kubewright/workqueue";
import { expect, test } from "vitest";

import { CountedMetrics } from "../test/counted-metrics.js";
import { SELECTOR_LABELS, T0, at, job, pod } from "../test/fixtures.js";
import { jobEventHandler, podEventHandler } from "./event-handlers.js";
import { jobPodsIndex } from "./job-pods-index.js";
import { JobMemory } from "./job-memory.js";
import type { JobObject, PodObject } from "./job-spec.js";
import { type OrphanKey, orphanPodKey, orphanSelectorKey } from "./orphan-key.js";
import { FixedBatches } from "./sync-batches.js";

const KEY = "ns/job" as ObjectKey;

function setUp(...cached: JobObject[]) {
  const clock = new SimulatedClock(T0);
  const newQueue = <Key extends string>() =>
    new RateLimitingQueue<Key>({
      clock,
      rateLimiter: new ItemExponentialFailureRateLimiter({ baseDelayMs: 1000, maxDelayMs: 60_000 }),
    });
  const queue = newQueue<ObjectKey>();
  const orphanQueue = newQueue<OrphanKey>();
  const memory = new JobMemory({
    clock,
    jobStore: { lastStoreSyncResourceVersion: "" },
    podStore: { lastStoreSyncResourceVersion: "" },
  });
  const jobs = {
    get: (key: ObjectKey) => cached.find((candidate) => keyOf(candidate) === key),
    listNamespace: (namespace: string) => cached.filter(({ metadata }) => metadata.namespace === namespace),
  };
  const metrics = new CountedMetrics();
  const batches = new FixedBatches({ queue, periodMs: 1000 });
  const state = { idle: false };
  batches.cancel = () => state.idle;
  /** Pods with a tracking finalizer; the handlers check no other field. */
  const tracked: PodObject[] = [orphan()];
  /** Pods that Jobs control. */
  const owned: PodObject[] = [];
  const pods = { byIndex: (index: string) => (index === jobPodsIndex ? owned : tracked) };
  const deps = { jobs, pods, queue, batches, orphanQueue, memory, clock, logger: silentLogger, metrics };
  /** Takes the keys that are ready now. */
  const take = async <Key extends string>(from: RateLimitingQueue<Key>): Promise<string[]> => {
    const keys: string[] = [];
    while (from.length > 0) {
      const key = (await from.get())!;
      from.done(key);
      keys.push(key);
    }
    return keys;
  };
  return {
    clock,
    metrics,
    queue,
    memory,
    jobHandler: jobEventHandler(deps),
    podHandler: podEventHandler(deps),
    synced: () => take(queue),
    orphans: () => take(orphanQueue),
    tracked,
    owned,
    state,
  };
}

function changed<T extends JobObject | PodObject>(original: T, change: (copy: Pod) => void): T {
  const copy = mutableCopy(original) as unknown as Pod;
  copy.metadata.resourceVersion = "2";
  change(copy);
  return copy as unknown as T;
}

const finished = job({}, { status: { conditions: [{ type: "Complete", status: "True" }] } });
const orphan = (options: Parameters<typeof pod>[1] = {}): PodObject => pod("stray", { owned: false, ...options });

test("a new Job and a changed spec are synced at once, other changes after the batch period", async () => {
  const { clock, jobHandler, synced } = setUp();
  const before = job();
  jobHandler.onAdd!(before, false);
  expect(await synced()).toEqual([KEY]);
  jobHandler.onUpdate!(
    before,
    changed(before, (copy) => (copy.metadata.generation = 2)),
  );
  expect(await synced()).toEqual([KEY]);
  jobHandler.onUpdate!(
    before,
    changed(before, (copy) => (copy.metadata.labels = { a: "b" })),
  );
  await clock.advance(999);
  expect(await synced()).toEqual([]);
  await clock.advance(1);
  expect(await synced()).toEqual([KEY]);
});

test("pod events within one batch period lead to one sync", async () => {
  const { clock, podHandler, synced } = setUp(job());
  for (let number = 0; number < 10; number++) {
    podHandler.onAdd!(pod(`p${number}`), false);
    expect(await synced()).toEqual([]);
    await clock.advance(100);
  }
  expect(await synced()).toEqual([KEY]);
  await clock.advance(5_000);
  expect(await synced()).toEqual([]);
});

test("a new deadline is waited for exactly, and one that has passed not at all", async () => {
  const { clock, jobHandler, synced } = setUp();
  const started = (seconds: number): JobObject =>
    job({ activeDeadlineSeconds: seconds }, { generation: seconds, status: { startTime: at(-20) } });
  jobHandler.onUpdate!(started(100), started(50));
  expect(await synced()).toEqual([KEY]);
  await clock.advance(29_999);
  expect(await synced()).toEqual([]);
  await clock.advance(1);
  expect(await synced()).toEqual([KEY]);
  jobHandler.onUpdate!(
    started(100),
    changed(started(10), (copy) => (copy.metadata.generation = 100)),
  );
  expect(await synced()).toEqual([KEY]);
});

test("a deadline beyond what Go's durations hold is due when they say so", async () => {
  const { clock, jobHandler, synced } = setUp();
  const started = (activeDeadlineSeconds: number): JobObject =>
    job({ activeDeadlineSeconds }, { status: { startTime: at(0) } });
  jobHandler.onUpdate!(started(100), started(10_000_000_000));
  expect(await synced()).toEqual([KEY]);
  const waiting = changed(started(100), (copy) => (copy.metadata.generation = 1));
  jobHandler.onUpdate!(waiting, started(20_000_000_000));
  await clock.advance(1_000);
  expect(await synced()).toEqual([KEY]);
  await clock.advance(60_000);
  expect(await synced()).toEqual([]);
});

test("a finished Job is not synced any more, its pods are looked at", async () => {
  const { clock, jobHandler, synced, orphans } = setUp();
  jobHandler.onUpdate!(job(), finished);
  await clock.advance(5_000);
  expect(await synced()).toEqual([]);
  expect(await orphans()).toEqual([orphanSelectorKey(finished)]);
});

test("a deleted Job is synced again, and forgotten at once", async () => {
  const { jobHandler, memory, synced, orphans } = setUp();
  memory.backoff.set(KEY, { failuresAfterLastSuccess: 3, lastFailureMs: T0 });
  memory.finished.add("job-uid");
  memory.consistency.wroteAt(KEY, "job-uid", { group: "", resource: "pods" }, "9");
  jobHandler.onDelete!({ kind: "DeletedFinalStateUnknown", key: KEY, object: job() });
  expect(memory.backoff.size + memory.finished.size).toBe(0);
  expect(await synced()).toEqual([KEY]);
  expect(await orphans()).toHaveLength(1);
  jobHandler.onDelete!({ kind: "DeletedFinalStateUnknown", key: KEY, object: undefined });
  expect(await synced()).toEqual([KEY]);
});

test("a pod's creation is observed for the Job that is meant by UID, of whatever API group", () => {
  const { podHandler, memory } = setUp(job());
  memory.expectations.expectCreations(KEY, 3);
  podHandler.onAdd!(pod("a"), false);
  podHandler.onAdd!(
    changed(pod("b"), (copy) => (copy.metadata.ownerReferences![0]!.uid = "other")),
    false,
  );
  podHandler.onAdd!(
    changed(pod("c"), (copy) => (copy.metadata.ownerReferences![0]!.kind = "Task")),
    false,
  );
  expect(memory.expectations.getExpectations(KEY)).toMatchObject({ add: 2 });
  podHandler.onAdd!(
    changed(pod("d"), (copy) => (copy.metadata.ownerReferences![0]!.apiVersion = "example.com/v1")),
    false,
  );
  expect(memory.expectations.getExpectations(KEY)).toMatchObject({ add: 1 });
});

test("a pod that is being deleted when it is first seen is a deletion and no creation", () => {
  const { podHandler, memory } = setUp(job());
  memory.expectations.setExpectations(KEY, 1, 1);
  podHandler.onAdd!(pod("a", { deletedAt: 0 }), true);
  expect(memory.expectations.getExpectations(KEY)).toMatchObject({ add: 1, del: 0 });
});

test("an unchanged resourceVersion is nothing new", async () => {
  const { clock, podHandler, synced } = setUp(job());
  podHandler.onUpdate!(pod("a"), pod("a"));
  await clock.advance(5_000);
  expect(await synced()).toEqual([]);
});

test("a pod seen without its finalizer is not waited for any more; one that is deleted with it still is", () => {
  const { podHandler, memory } = setUp(job());
  const expected = () => [...memory.finalizers.expectedUIDs(KEY)];
  memory.finalizers.expectFinalizersRemoved(KEY, ["uid-a", "uid-b", "uid-c", "uid-d"]);
  podHandler.onUpdate!(
    pod("a"),
    changed(pod("a", { tracked: false }), () => undefined),
  );
  expect(expected()).toEqual(["uid-b", "uid-c", "uid-d"]);
  podHandler.onUpdate!(
    pod("b"),
    changed(pod("b", { deletedAt: 0 }), () => undefined),
  );
  expect(expected()).toEqual(["uid-b", "uid-c", "uid-d"]);
  podHandler.onUpdate!(
    pod("c"),
    changed(pod("c", { deletedAt: 0, tracked: false }), () => undefined),
  );
  podHandler.onDelete!(pod("d"));
  expect(expected()).toEqual(["uid-b"]);
});

test("a pod that changes its controller concerns both Jobs", async () => {
  const other = job({}, { name: "other", uid: "other-uid" });
  const { clock, podHandler, memory, synced } = setUp(job(), other);
  memory.finalizers.expectFinalizersRemoved(KEY, ["uid-a"]);
  memory.finalizers.expectFinalizersRemoved("ns/other", ["uid-a"]);
  const moved = changed(pod("a", { tracked: false }), (copy) =>
    Object.assign(copy.metadata.ownerReferences![0]!, { name: "other", uid: "other-uid" }),
  );
  podHandler.onUpdate!(pod("a"), moved);
  await clock.advance(1_000);
  expect(await synced()).toEqual([KEY, "ns/other"]);
  expect([...memory.finalizers.expectedUIDs(KEY), ...memory.finalizers.expectedUIDs("ns/other")]).toEqual([]);
});

test("no Job's pods are looked for where none is tracked", async () => {
  const { jobHandler, tracked, orphans } = setUp();
  tracked.length = 0;
  jobHandler.onDelete!(job());
  expect(await orphans()).toEqual([]);
});

test.each([true, false])(
  "of a Job that ends all is forgotten at once, where its batch can be cancelled: %s",
  async (idle) => {
    const { jobHandler, memory, synced, state } = setUp();
    state.idle = idle;
    memory.finished.add("job-uid");
    jobHandler.onUpdate!(job(), finished);
    expect(memory.finished.has("job-uid")).toBe(!idle);
    memory.expectations.expectCreations(KEY, 1);
    jobHandler.onDelete!(finished);
    expect(memory.expectations.getExpectations(KEY) === undefined).toBe(idle);
    expect(await synced()).toEqual(idle ? [] : [KEY]);
  },
);

test("another Job that has taken the name of one whose deletion was missed is no update of it", async () => {
  const { jobHandler, memory, synced, orphans } = setUp();
  memory.finished.add("job-uid");
  memory.expectations.expectCreations(KEY, 1);
  jobHandler.onUpdate!(
    job(),
    changed(job(), (copy) => (copy.metadata.uid = "other-uid")),
  );
  expect(memory.finished.has("job-uid")).toBe(false);
  expect(memory.expectations.satisfiedExpectations(KEY)).toBe(true);
  expect(await synced()).toEqual([KEY]);
  expect(await orphans()).toEqual([orphanSelectorKey(job())]);
});

test("another pod that has taken the name of one whose deletion was missed is a deletion and a creation", async () => {
  const { clock, podHandler, memory, synced } = setUp(job());
  memory.expectations.setExpectations(KEY, 1, 1);
  memory.finalizers.expectFinalizersRemoved(KEY, ["uid-a"]);
  podHandler.onUpdate!(
    pod("a"),
    changed(pod("a"), (copy) => (copy.metadata.uid = "other-uid")),
  );
  expect(memory.expectations.getExpectations(KEY)).toMatchObject({ add: 0, del: 0 });
  expect([...memory.finalizers.expectedUIDs(KEY)]).toEqual([]);
  await clock.advance(1_000);
  expect(await synced()).toEqual([KEY]);
});

test("a Job that has ended has pods looked at only while some of those it selects are tracked", async () => {
  const { jobHandler, tracked, orphans } = setUp();
  const foreign = pod("other", { labels: { app: "other" } });
  tracked.splice(0, 1, foreign);
  jobHandler.onUpdate!(finished, finished);
  expect(await orphans()).toEqual([]);
  tracked.push(orphan());
  jobHandler.onUpdate!(finished, finished);
  expect(await orphans()).toEqual([orphanSelectorKey(finished)]);
});

test("pods that a Job controls, and does not select any more, are looked at when it has ended or is gone", async () => {
  const { jobHandler, tracked, owned, orphans } = setUp();
  const stripped = pod("stripped", { labels: {} });
  const freed = pod("freed", { labels: {}, tracked: false });
  tracked.splice(0, 1);
  owned.push(stripped, freed, pod("labelled"));
  jobHandler.onUpdate!(finished, finished);
  expect(await orphans()).toEqual([orphanPodKey(stripped)]);
  jobHandler.onDelete!(job());
  expect(await orphans()).toEqual([orphanPodKey(stripped)]);
  jobHandler.onUpdate!(job(), job());
  expect(await orphans()).toEqual([]);
});

test("an orphan is offered to all Jobs that select it, and its finalizer looked at", async () => {
  const { clock, podHandler, synced, orphans } = setUp(job(), job({}, { name: "twin", uid: "twin-uid" }));
  podHandler.onAdd!(orphan(), false);
  await clock.advance(1_000);
  expect(await synced()).toEqual([KEY, "ns/twin"]);
  expect(await orphans()).toEqual([orphanPodKey(orphan())]);

  podHandler.onAdd!(orphan({ labels: {}, tracked: false }), false);
  podHandler.onUpdate!(
    orphan(),
    changed(orphan(), () => undefined),
  );
  await clock.advance(1_000);
  expect(await synced()).toEqual([]);
  expect(await orphans()).toHaveLength(1);

  podHandler.onUpdate!(
    orphan(),
    changed(orphan({ labels: { ...SELECTOR_LABELS, more: "1" } }), () => undefined),
  );
  await clock.advance(1_000);
  expect(await synced()).toHaveLength(2);
});

test("a pod that shows only after its Job has finished is left to the orphan queue", async () => {
  const { podHandler, orphans } = setUp(finished);
  podHandler.onAdd!(pod("a"), false);
  expect(await orphans()).toEqual([orphanPodKey(pod("a"))]);
  podHandler.onUpdate!(
    pod("a"),
    changed(pod("a"), () => undefined),
  );
  expect(await orphans()).toEqual([orphanPodKey(pod("a"))]);
  podHandler.onAdd!(pod("b", { tracked: false }), false);
  expect(await orphans()).toEqual([]);
});

test("a deleted pod whose Job is gone or finished is left to the orphan queue, one of a live Job is synced", async () => {
  for (const [cached, isOrphan] of [
    [[], true],
    [[finished], true],
    [[job()], false],
  ] as [JobObject[], boolean][]) {
    const { clock, podHandler, synced, orphans } = setUp(...cached);
    podHandler.onUpdate!(
      pod("a"),
      changed(pod("a", { deletedAt: 0 }), () => undefined),
    );
    await clock.advance(1_000);
    expect(await synced()).toEqual(isOrphan ? [] : [KEY]);
    expect(await orphans()).toEqual(isOrphan ? [orphanPodKey(pod("a"))] : []);
  }
});

test("a resync of an unfinished Job is gathered like any change that is none of its spec", async () => {
  const { clock, jobHandler, synced } = setUp();
  jobHandler.onUpdate!(job(), job());
  await clock.advance(999);
  expect(await synced()).toEqual([]);
  await clock.advance(1);
  expect(await synced()).toEqual([KEY]);
});

test("a pod that names the Job with another UID, or another kind, does not have it synced", async () => {
  const { clock, podHandler, synced } = setUp(job());
  for (const change of [{ uid: "other" }, { kind: "Task" }]) {
    podHandler.onAdd!(
      changed(pod("a"), (copy) => Object.assign(copy.metadata.ownerReferences![0]!, change)),
      false,
    );
  }
  await clock.advance(5_000);
  expect(await synced()).toEqual([]);
});

test("each update of a terminating pod is taken for a deletion: expectations may be met early", () => {
  const { podHandler, memory } = setUp(job());
  memory.expectations.expectDeletions(KEY, 2);
  const terminating = (resourceVersion: string) =>
    changed(pod("a", { deletedAt: 0 }), (copy) => (copy.metadata.resourceVersion = resourceVersion));
  podHandler.onUpdate!(pod("a"), terminating("2"));
  expect(memory.expectations.satisfiedExpectations(KEY)).toBe(false);
  podHandler.onUpdate!(terminating("2"), terminating("3"));
  expect(memory.expectations.satisfiedExpectations(KEY)).toBe(true);
});

test("a pod whose deletion was missed is dealt with as deleted, and nothing is made of what was not even cached", async () => {
  const { clock, podHandler, memory, synced } = setUp(job());
  memory.expectations.expectDeletions(KEY, 1);
  memory.finalizers.expectFinalizersRemoved(KEY, ["uid-a"]);
  podHandler.onDelete!({ kind: "DeletedFinalStateUnknown", key: "ns/a" as ObjectKey, object: pod("a") });
  expect(memory.expectations.satisfiedExpectations(KEY)).toBe(true);
  expect([...memory.finalizers.expectedUIDs(KEY)]).toEqual([]);
  await clock.advance(1_000);
  expect(await synced()).toEqual([KEY]);
  podHandler.onDelete!({ kind: "DeletedFinalStateUnknown", key: "ns/b" as ObjectKey, object: undefined });
  await clock.advance(1_000);
  expect(await synced()).toEqual([]);
});

test("a Job recreated under its name is not held up by what was written for the old one", () => {
  const { jobHandler, memory } = setUp();
  memory.consistency.wroteAt(KEY, "job-uid", { group: "batch", resource: "jobs" }, "500");
  jobHandler.onDelete!(job());
  expect(memory.consistency.ensureReady(KEY)).toEqual({ ready: true });
});

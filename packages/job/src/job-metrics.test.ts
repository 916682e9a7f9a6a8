import { expect, test } from "vitest";

import { CountedMetrics } from "../test/counted-metrics.js";
import { at, failed, indexed, job, pod, succeeded } from "../test/fixtures.js";
import { KEY, SyncBench } from "../test/sync-bench.js";
import { jobMetricDefinitions } from "./job-metrics.js";
import { terminatedPodCounter } from "./terminated-pods.js";

const STEADY = { startTime: at(-60), ready: 0, terminating: 0, uncountedTerminatedPods: {} };

test("every metric has upstream's name, and the duration its buckets", () => {
  expect(Object.values(jobMetricDefinitions).map(({ name }) => name.replace("job_controller_", ""))).toEqual([
    "job_sync_duration_seconds",
    "job_syncs_total",
    "jobs_finished_total",
    "job_pods_finished_total",
    "job_finished_indexes_total",
    "jobs_by_external_controller_total",
    "pod_failures_handled_by_failure_policy_total",
    "terminated_pods_tracking_finalizer_total",
    "job_pods_creation_total",
    "stale_sync_skips_total",
  ]);
  expect(jobMetricDefinitions.syncDuration.buckets).toEqual([
    0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384, 32.768, 65.536,
  ]);
});

test("a sync counts with what it did and how it went, and a failed one too", async () => {
  const bench = new SyncBench(job({ parallelism: 2, completions: 2 }));
  await bench.sync();
  expect(bench.metrics.take()).toEqual({ "podCreated new succeeded": 2, "synced NonIndexed success pods_created": 1 });
  expect(bench.metrics.syncSeconds).toEqual([0]);

  const failing = new SyncBench(indexed(2), [pod("stray", { owned: false })]);
  failing.refuse = (call) => (call === "GET job" ? { code: 500 } : undefined);
  await failing.sync();
  expect(failing.metrics.take()).toEqual({ "synced Indexed error reconciling": 1 });
});

test.each([
  ["tracking", job({}, { status: { ...STEADY, active: 1 } }), [pod("a")]],
  ["pods_deleted", job({ suspend: true }), []],
  ["pods_created", job({}, { status: STEADY }), [failed("a")]],
  ["reconciling", job({ backoffLimit: 0 }, { status: STEADY }), [failed("a")]],
  ["reconciling", job({}, { deletionTimestamp: at(0), status: STEADY }), []],
] as const)("a sync is labelled %s", async (action, of, pods) => {
  const bench = new SyncBench(of, pods);
  await bench.sync();
  expect(bench.metrics.take()).toMatchObject({ [`synced NonIndexed success ${action}`]: 1 });
});

test("a sync that had nothing to decide does not count, a skipped one counts by what lags", async () => {
  const idle = new SyncBench(job({}, { status: { conditions: [{ type: "Complete", status: "True" }] } }));
  const weird = new SyncBench(job({ completionMode: "Weird" }));
  const foreign = new SyncBench(job({ managedBy: "example.com/other" }));
  for (const bench of [idle, weird, foreign]) {
    await bench.sync();
    expect(bench.metrics.take()).toEqual({});
  }
  const stale = new SyncBench(job());
  stale.memory.consistency.wroteAt(KEY, "job-uid", { group: "", resource: "pods" }, "101");
  stale.podStore.bookmark("99");
  expect(await stale.sync()).toBeInstanceOf(Error);
  stale.podStore.bookmark("100");
  expect(await stale.sync()).toBeInstanceOf(Error);
  expect(stale.metrics.take()).toEqual({ "staleSyncSkipped  pods": 2 });
  stale.podStore.bookmark("101");
  expect(await stale.sync()).toBeUndefined();
  stale.memory.consistency.clear(KEY);
  stale.memory.consistency.wroteAt(KEY, "job-uid", { group: "batch", resource: "jobs" }, "1000");
  stale.jobStore.bookmark("205");
  stale.metrics.take();
  await stale.sync();
  expect(stale.metrics.take()).toEqual({ "staleSyncSkipped batch jobs": 1 });
});

test("pods and the Job count as finished when that is written, and not when the write is refused", async () => {
  const bench = new SyncBench(job({ completions: 1, parallelism: 1 }, { status: { ...STEADY, active: 1 } }), [
    succeeded("s"),
    failed("f"),
  ]);
  let puts = 0;
  bench.refuse = (call) => (call === "PUT status" && ++puts === 2 ? { code: 409 } : undefined);
  await bench.sync();
  expect(bench.metrics.take()).toEqual({ "synced NonIndexed error tracking": 1 });
  bench.catchUp();
  await bench.sync();
  expect(bench.metrics.take()).toEqual({
    "podsFinished NonIndexed succeeded": 1,
    "podsFinished NonIndexed failed": 1,
    "jobFinished NonIndexed succeeded CompletionsReached": 1,
    "synced NonIndexed success reconciling": 1,
  });
});

test("pods that a partial write has counted are measured", async () => {
  const bench = new SyncBench(job({ completions: 3, parallelism: 0 }, { status: STEADY }), [
    succeeded("s"),
    succeeded("t"),
  ]);
  bench.refuse = (call) => (call === "PATCH t" ? { code: 500 } : undefined);
  expect(await bench.sync()).toBeInstanceOf(Error);
  expect(bench.written?.status).toMatchObject({ succeeded: 1 });
  expect(bench.metrics.take()).toMatchObject({ "podsFinished NonIndexed succeeded": 1 });
});

test("a first write of the status opens the series of finished pods and indexes, at zero", async () => {
  const plain = new SyncBench(job());
  await plain.sync();
  const series = ["podsFinished NonIndexed failed", "podsFinished NonIndexed succeeded"];
  expect([...plain.metrics.series].sort()).toEqual(
    [...series, "podCreated new succeeded", "synced NonIndexed success pods_created"].sort(),
  );
  const perIndex = new SyncBench(indexed(1, { backoffLimitPerIndex: 1 }));
  await perIndex.sync();
  expect([...perIndex.metrics.series]).toEqual(
    expect.arrayContaining([
      "podsFinished Indexed succeeded",
      "podsFinished Indexed failed",
      "indexesFinished succeeded perIndex",
    ]),
  );
  expect([...perIndex.metrics.series]).not.toContain("indexesFinished failed perIndex");
  const idle = new SyncBench(job({}, { status: { ...STEADY, active: 1 } }), [pod("a")]);
  await idle.sync();
  expect([...idle.metrics.series]).toEqual(["synced NonIndexed success tracking"]);
});

test("a failed Job counts with its reason", async () => {
  const bench = new SyncBench(job({ backoffLimit: 0 }, { status: STEADY }), [failed("f")]);
  await bench.sync();
  expect(bench.metrics.take()).toMatchObject({ "jobFinished NonIndexed failed BackoffLimitExceeded": 1 });
});

test("an indexed Job's successes count by index, and its failed indexes apart from its failed pods", async () => {
  const pods = [0, 0, 1].map((index, number) => succeeded(`s${number}`, { index }));
  const plain = new SyncBench(indexed(4, {}, { status: { ...STEADY, active: 4 } }), pods);
  await plain.sync();
  expect(plain.metrics.take()).toMatchObject({
    "podsFinished Indexed succeeded": 2,
    "indexesFinished succeeded global": 2,
  });
  const perIndex = new SyncBench(
    indexed(3, { backoffLimitPerIndex: 0 }, { status: { ...STEADY, failedIndexes: "", active: 3 } }),
    [succeeded("s", { index: 0 }), failed("f", { index: 1 }), pod("r", { index: 2 })],
  );
  await perIndex.sync();
  expect(perIndex.metrics.take()).toEqual({
    "podsFinished Indexed succeeded": 1,
    "podsFinished Indexed failed": 1,
    "indexesFinished succeeded perIndex": 1,
    "indexesFinished failed perIndex": 1,
    "synced Indexed success pods_created": 1,
  });
});

test("lowering completions takes nothing from a counter", async () => {
  const bench = new SyncBench(indexed(1, {}, { status: { ...STEADY, completedIndexes: "1,2", succeeded: 2 } }));
  await bench.sync();
  expect(bench.written?.status?.succeeded).toBeUndefined();
  expect(bench.metrics.take()).toEqual({ "podCreated new succeeded": 1, "synced Indexed success pods_created": 1 });
});

test.each([
  ["new", job(), []],
  ["recreate_terminating_or_failed", job({}, { status: { ...STEADY, failed: 1 } }), []],
  ["recreate_failed", job({ podReplacementPolicy: "Failed" }, { status: { ...STEADY, failed: 1 } }), []],
  [
    "recreate_terminating_or_failed",
    job({ podReplacementPolicy: "Failed", parallelism: 2 }, { status: STEADY }),
    [pod("t", { deletedAt: 0 })],
  ],
] as const)("a created pod counts as %s", async (reason, of, pods) => {
  const bench = new SyncBench(of, pods);
  await bench.sync();
  expect(bench.metrics.take()).toMatchObject({ [`podCreated ${reason} succeeded`]: 1 });
});

test("a refused creation counts as failed, once, and in a namespace being deleted as neither", async () => {
  const bench = new SyncBench(job());
  bench.refuse = (call) => (call.startsWith("POST") ? { code: 403 } : undefined);
  await bench.sync();
  expect(bench.metrics.take()).toEqual({ "podCreated new failed": 1, "synced NonIndexed error pods_created": 1 });
  const ending = new SyncBench(job());
  ending.refuse = (call) => (call.startsWith("POST") ? { code: 403, cause: "NamespaceTerminating" } : undefined);
  await ending.sync();
  expect(ending.metrics.take()).toEqual({ "synced NonIndexed success pods_created": 1 });
});

test("each rule of a failure policy counts the pods that it decided on", async () => {
  const rule = (action: string, code: number) => ({ action, onExitCodes: { operator: "In", values: [code] } });
  const rules = [rule("Ignore", 1), rule("Count", 2)];
  const bench = new SyncBench(
    job({ completions: 5, parallelism: 5, podFailurePolicy: { rules } }, { status: STEADY }),
    [1, 1, 2, 3].map((exitCode, number) => failed(`f${number}`, { exitCode })),
  );
  await bench.sync();
  expect(bench.metrics.take()).toMatchObject({ "podFailuresHandled Ignore": 2, "podFailuresHandled Count": 1 });
});

test("a pod counts as ended and tracked when it becomes so, and when it ceases to be", () => {
  const metrics = new CountedMetrics();
  const handler = terminatedPodCounter(metrics);
  const gone = (object: typeof ended) => handler.onDelete!(object);
  const [running, ended, free] = [pod("p"), failed("p", { owned: false }), failed("p", { tracked: false })];
  handler.onAdd!(running, false);
  handler.onUpdate!(running, running);
  expect(metrics.take()).toEqual({});
  handler.onUpdate!(running, ended);
  handler.onAdd!(ended, true);
  expect(metrics.take()).toEqual({ "terminatedPodTracked add": 2 });
  handler.onUpdate!(ended, free);
  gone(ended);
  gone(free);
  expect(metrics.take()).toEqual({ "terminatedPodTracked delete": 2 });
  handler.onDelete!({ kind: "DeletedFinalStateUnknown", key: KEY, object: ended });
  expect(metrics.take()).toEqual({});
});

import { expect, test } from "vitest";

import { T0, at, failed, indexed, job, pod, succeeded } from "../test/fixtures.js";
import { SyncBench } from "../test/sync-bench.js";
import { predictJobSync } from "./predict-sync.js";
import { defaultJobLimits } from "./job-limits.js";
import type { JobObject, PodObject } from "./job-spec.js";

const predict = (of: JobObject, pods: readonly PodObject[] = [], seconds = 0) =>
  predictJobSync(of, pods, T0 + seconds * 1000);

const reasonsOf = (...args: Parameters<typeof predict>): string[] => {
  const predicted = predict(...args);
  return predicted.type === "planned" ? predicted.reasons.map(({ type }) => type) : [predicted.reason];
};

test("a skipped Job has its reason", () => {
  expect(predict(job({ managedBy: "example.com/queue" }))).toMatchObject({
    reason: "managedElsewhere",
    detail: "example.com/queue",
  });
  expect(predict(job({ completions: "3" as unknown as number }))).toMatchObject({
    reason: "unreadable",
    detail: 'spec.completions must be an integer, but is "3"',
  });
  expect(reasonsOf(job({ completionMode: "Random" }))).toEqual(["unknownCompletionMode"]);
  const ended = { conditions: [{ type: "Failed", status: "True" }] };
  expect(reasonsOf(job({}, { status: ended }))).toEqual(["finished"]);
});

test("counted failures delay the next pod as long as their pods exist", () => {
  const counted = [failed("a", { tracked: false, finishedAt: 10 }), failed("b", { tracked: false, finishedAt: 30 })];
  const retried = job({ completions: 1 }, { status: { startTime: at(0), failed: 2 } });
  const predicted = predict(retried, counted, 35);
  expect(predicted).toMatchObject({
    reasons: [{ type: "Backoff", failures: 2, remainingMs: 15_000 }],
    wakeMs: T0 + 50_000,
  });
  expect(reasonsOf(retried, counted, 50)).toEqual(["Creating"]);
});

test("a success between failures starts the wait over", () => {
  const pods = [
    failed("a", { tracked: false, finishedAt: 10 }),
    succeeded("b", { tracked: false, finishedAt: 20 }),
    failed("c", { tracked: false, finishedAt: 30 }),
  ];
  const going = job({ completions: 3 }, { status: { startTime: at(0), failed: 2, succeeded: 1 } });
  expect(predict(going, pods, 31)).toMatchObject({ reasons: [{ type: "Backoff", failures: 1, remainingMs: 9_000 }] });
});

test("the deadline is the next wake-up where it comes before the retry", () => {
  const limited = job({ completions: 1, activeDeadlineSeconds: 60 }, { status: { startTime: at(0) } });
  expect(predict(limited, [pod("a")], 20)).toMatchObject({ reasons: [{ type: "EnoughActive" }], wakeMs: T0 + 60_000 });
  expect(reasonsOf(limited, [pod("a")], 60)).toEqual(["Ending", "WaitingForTermination"]);
  expect(reasonsOf(limited, [], 60)).toEqual(["Ending", "Finished"]);
});

test("a Job with its completions is about to be complete, once the last pod is gone", () => {
  const done = job({ completions: 1 }, { status: { startTime: at(0) } });
  expect(reasonsOf(done, [succeeded("a")])).toEqual(["EnoughActive", "Ending", "Finished"]);
  expect(reasonsOf(done, [succeeded("a"), pod("b", { deletedAt: 0 })])).toContain("WaitingForTermination");
});

test("a Job with more ended pods than one sync counts does not end in it", () => {
  const many = (count: number) => Array.from({ length: count }, (_, number) => succeeded(`s${number}`));
  const done = (count: number) => job({ completions: count, parallelism: count }, { status: { startTime: at(0) } });
  expect(reasonsOf(done(499), many(499))).toEqual(["EnoughActive", "Ending", "Finished"]);
  expect(reasonsOf(done(500), many(500))).toEqual(["EnoughActive", "Ending", "PodsLeftToCount"]);
  const limits = { ...defaultJobLimits, maxUncountedPods: 2, maxPodsPerSync: 3 };
  expect(predictJobSync(done(2), many(2), T0, { limits })).toMatchObject({
    reasons: [{}, {}, { type: "PodsLeftToCount" }],
  });
  expect(predictJobSync(done(9), [], T0, { limits })).toMatchObject({ reasons: [{ type: "Creating", count: 3 }] });
});

test.each<[string, JobObject, PodObject[]]>([
  ["creates", job({ parallelism: 3, completions: 9 }), [pod("a"), succeeded("s")]],
  ["removes", job({ parallelism: 1, completions: 9 }), [pod("a", { ready: true }), pod("b")]],
  ["waits out a backoff", job(), [failed("f", { finishedAt: -3 })]],
  ["fails", job({ backoffLimit: 0, parallelism: 2 }), [failed("f"), pod("a")]],
  [
    "has succeeded with pods left",
    indexed(3, { successPolicy: { rules: [{ succeededCount: 1 }] } }),
    [pod("a", { index: 0 }), succeeded("s", { index: 1 })],
  ],
  ["has succeeded", job({ completions: 1 }), [succeeded("s")]],
  ["is suspended", job({ suspend: true, parallelism: 2 }), [pod("a"), pod("b")]],
  [
    "has more to count than one sync may",
    job({ completions: 600, parallelism: 600 }),
    Array.from({ length: 600 }, (_, number) => succeeded(`s${number}`)),
  ],
])("the predicted reasons of a Job that %s equal those of its sync", async (_, of, pods) => {
  const bench = new SyncBench(of, pods);
  expect(await bench.sync()).toBeUndefined();
  const reasons = bench.decisions[0]!.reasons.map(({ type }) => type).filter((type) => type !== "PodsCounted");
  expect(reasonsOf(of, pods)).toEqual(reasons);
});

test("a suspended Job deletes its pods and is reported as suspended", () => {
  expect(reasonsOf(job({ suspend: true }), [pod("a")])).toEqual(["Suspended"]);
});

test("indexes that wait are named, and pods of others are no business of the Job's", () => {
  const perIndex = indexed(2, { backoffLimitPerIndex: 1 }, { status: { startTime: at(0) } });
  const predicted = predict(
    perIndex,
    [pod("a", { index: 0 }), failed("b", { index: 1, finishedAt: 5, failures: 0 })],
    6,
  );
  expect(predicted).toMatchObject({ reasons: [{ type: "IndexBackoff", indexes: [1], remainingMs: 9_000 }] });
  const stranger = pod("x", { labels: { other: "app" } });
  expect(predict(job(), [stranger])).toMatchObject({ pods: [] });
});

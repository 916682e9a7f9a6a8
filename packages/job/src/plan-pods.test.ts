import type { JobSpec } from "@kubewright/api";
import { expect, test } from "vitest";

import { T0, failed, indexed, job, plan, pod, succeeded } from "../test/fixtures.js";
import type { JobObject, PodObject } from "./job-spec.js";
import type { JobPlan } from "./plan-job.js";

const running = (count: number, options: Parameters<typeof pod>[1] = {}): PodObject[] =>
  Array.from({ length: count }, (_, number) => pod(`r${number}`, options));
const created = ({ pods }: JobPlan): (number | undefined)[] | undefined => pods?.create.map(({ index }) => index);
const removed = ({ pods }: JobPlan): (string | undefined)[] | undefined =>
  pods?.remove.map(({ metadata }) => metadata.name);
const after = (seconds: number): { nowMs: number } => ({ nowMs: T0 + seconds * 1000 });

test.each<[string, Partial<JobSpec>, PodObject[], number]>([
  ["two of five at once", { parallelism: 2, completions: 5 }, [], 2],
  ["no number of completions", { parallelism: 2 }, [], 2],
  [
    "two pending already",
    { parallelism: 2, completions: 5 },
    [pod("a", { phase: "Pending" }), pod("b", { phase: "" })],
    0,
  ],
  ["one running, one succeeded", { parallelism: 2, completions: 5 }, [pod("a"), succeeded("b")], 1],
  ["nothing new after a success without completions", { parallelism: 2 }, [pod("a"), succeeded("b")], 0],
  ["parallelism 0", { parallelism: 0, completions: 1 }, [], 0],
  ["no more than are left to complete", { parallelism: 5, completions: 2 }, [succeeded("a")], 1],
  ["at most 500 in one sync", { parallelism: 1000, completions: 1000 }, [], 500],
])("as many pods are created as are wanted and missing: %s", (_, spec, pods, count) => {
  expect(plan({ job: job(spec), pods }).pods?.create).toHaveLength(count);
});

test.each<[string, Partial<JobSpec>, PodObject[], number]>([
  ["ten run, two may", { parallelism: 2, completions: 5 }, running(10), 8],
  ["three run, two are left", { parallelism: 3, completions: 4 }, [...running(3), succeeded("a"), succeeded("b")], 1],
  [
    "parallelism does not matter after a success without completions",
    { parallelism: 1 },
    [...running(3), succeeded("a")],
    0,
  ],
  ["at most 500 in one sync", { parallelism: 0, completions: 900 }, running(700), 500],
])("surplus pods are removed, and then none created: %s", (_, spec, pods, count) => {
  const { pods: podPlan, action } = plan({ job: job(spec), pods });
  expect(podPlan?.remove).toHaveLength(count);
  expect(podPlan?.create).toEqual([]);
  expect(action).toBe(count > 0 ? "pods_deleted" : "tracking");
});

test("suspending removes all active pods at once", () => {
  const suspended = plan({ job: job({ suspend: true, parallelism: 700, completions: 700 }), pods: running(700) });
  expect(suspended.pods?.remove).toHaveLength(700);
  expect(suspended.startMs).toBeUndefined();
  expect(plan({ job: job({ suspend: true }), pods: [] }).action).toBe("pods_deleted");
});

test("pods go first that are unassigned, pending, not ready, lately ready, often restarted, young", () => {
  const one = { parallelism: 1, completions: 5 };
  const loser = (a: PodObject, b: PodObject): (string | undefined)[] | undefined =>
    removed(plan({ job: job(one), pods: [b, a] }));
  expect(loser(pod("a", { createdAt: 0 }), pod("b", { node: "n" }))).toEqual(["a"]);
  expect(loser(pod("a", { phase: "Pending", node: "n" }), pod("b", { node: "n" }))).toEqual(["a"]);
  expect(loser(pod("a"), pod("b", { ready: true, createdAt: 9 }))).toEqual(["a"]);
  expect(loser(pod("a", { ready: true, createdAt: 5 }), pod("b", { ready: true }))).toEqual(["a"]);
  expect(loser(pod("a", { restarts: 2 }), pod("b", { createdAt: 9 }))).toEqual(["a"]);
  expect(loser(pod("a", { createdAt: 9 }), pod("b"))).toEqual(["a"]);
});

test("while created or deleted pods are not seen yet, and while the Job is being deleted, pods are left alone", () => {
  const pods = running(3);
  const waiting = plan({ job: job({ suspend: true }), pods, expectationsSatisfied: false });
  expect(waiting).toMatchObject({ action: "reconciling", reasons: [{ type: "ExpectationsPending" }] });
  expect(waiting.pods).toBeUndefined();
  const deleting = plan({ job: job({ suspend: true }, { deletionTimestamp: "2026-01-01T00:00:00Z" }), pods });
  expect(deleting).toMatchObject({ action: "reconciling", reasons: [{ type: "JobBeingDeleted" }] });
  expect(deleting.pods).toBeUndefined();
});

test("an index that has succeeded before, whose pod keeps its finalizer, does not reset the backoff", () => {
  const status = { completedIndexes: "0", uncountedTerminatedPods: { failed: ["uid-f"] } };
  const pods = [succeeded("s", { index: 0, finishedAt: 0 }), failed("f", { index: 1, finishedAt: 10 })];
  const backoff = { failuresAfterLastSuccess: 1, lastFailureMs: T0 + 10_000 };
  const input = { pods, backoff, ...after(12) };
  expect(plan({ ...input, job: indexed(2, {}, { status }) }).pods).toMatchObject({ create: [], retryAfterMs: 8_000 });
  // A new success resets the backoff.
  const first = plan({ ...input, job: indexed(2, {}, { status: { ...status, completedIndexes: "" } }) });
  expect(first.pods?.create).toHaveLength(1);
});

test("a failed pod is replaced only after the backoff, and the pods that run stay counted", () => {
  const pods = [failed("f", { finishedAt: 0 }), pod("r", { ready: true })];
  const two = job({ parallelism: 2, completions: 5 });
  const waiting = plan({ job: two, pods, ...after(1) });
  expect(waiting.pods).toMatchObject({
    action: "pods_created",
    create: [],
    retryAfterMs: 9_000,
    reasons: [{ type: "Backoff", failures: 1 }],
  });
  expect(waiting.observed.active).toHaveLength(1);
  expect(plan({ job: two, pods, ...after(10) }).pods?.create).toHaveLength(1);
});

test("an ignored failure delays its replacement too", () => {
  const policy = { rules: [{ action: "Ignore", onExitCodes: { operator: "In", values: [1] } }] };
  const waiting = plan({ job: job({ podFailurePolicy: policy }), pods: [failed("f")], ...after(1) });
  expect(waiting.observed.failed).toBe(0);
  expect(waiting.pods?.retryAfterMs).toBe(9_000);
});

test("a failure that was counted before a restart is replaced without delay", () => {
  const counted = job({}, { status: { failed: 1, uncountedTerminatedPods: {} } });
  expect(plan({ job: counted, pods: [failed("f", { tracked: false })] }).pods?.create).toHaveLength(1);
});

test("a terminating pod is replaced at once, or, where only failed pods are, not before it has ended", () => {
  const pods = [pod("a", { deletedAt: 0 }), pod("b", { deletedAt: 0 })];
  const two = { parallelism: 2, completions: 2 };
  expect(plan({ job: job(two), pods, ...after(30) }).pods?.create).toHaveLength(2);
  const onlyFailed = plan({ job: job({ ...two, podReplacementPolicy: "Failed" }), pods, ...after(30) });
  expect(onlyFailed).toMatchObject({
    action: "tracking",
    reasons: [{ type: "Terminating", terminating: 2, wanted: 2 }],
  });
  expect(onlyFailed.observed).toMatchObject({ failed: 0, newlyFailed: [] });
});

test("the lowest pending indexes are created", () => {
  const tests: [JobObject, PodObject[], number[]][] = [
    [indexed(5, { parallelism: 2 }), [], [0, 1]],
    [indexed(5, { parallelism: 2 }), [succeeded("a", { index: 0 }), pod("b", { index: 1 })], [2]],
    [indexed(5, { parallelism: 3 }), [pod("a", { index: 0 }), pod("b", { index: 2 })], [1]],
    [indexed(5, { parallelism: 5 }), [pod("a", { index: 1 }), succeeded("b", { index: 3 })], [0, 2, 4]],
    [indexed(4, {}, { status: { completedIndexes: "0-2", succeeded: 3 } }), [], [3]],
    [indexed(1, { podReplacementPolicy: "Failed" }), [pod("a", { index: 0, deletedAt: 0 })], []],
    [indexed(1), [pod("a", { index: 0, deletedAt: 0 })], [0]],
  ];
  for (const [of, pods, indexes] of tests)
    expect(created(plan({ job: of, pods, ...after(60) })) ?? []).toEqual(indexes);
});

test("pods with a useless index are removed, even when no pod is too many", () => {
  const useless = ["abc", "-1", 3, undefined].map((index, number) =>
    pod(`u${number}`, index === undefined ? {} : { index }),
  );
  const pods = [pod("good", { index: 0 }), ...useless];
  expect(removed(plan({ job: indexed(5, { parallelism: 5 }), pods }))).toEqual(["u0", "u1", "u3"]);
  expect(removed(plan({ job: indexed(3), pods }))).toEqual(["u0", "u1", "u2", "u3"]);
});

test("of two pods with one index the better one stays, and the missing index waits for the next sync", () => {
  const pods = [pod("a", { index: 0 }), pod("b", { index: 0, ready: true }), pod("c", { index: 1 })];
  const duplicates = plan({ job: indexed(3), pods });
  expect(removed(duplicates)).toEqual(["a"]);
  expect(created(duplicates)).toEqual([]);
  expect(created(plan({ job: indexed(3), pods: pods.slice(1) }))).toEqual([2]);
});

test("an index is retried after its own backoff, and its pod carries on the count", () => {
  const one = indexed(1, { backoffLimitPerIndex: 1 });
  const pods = [failed("f", { index: 0, failures: 0, finishedAt: 0 })];
  const waiting = plan({ job: one, pods, ...after(1) });
  expect(waiting.pods).toMatchObject({
    create: [],
    retryAfterMs: 9_000,
    reasons: [{ type: "IndexBackoff", indexes: [0] }],
  });
  expect(plan({ job: one, pods, ...after(10) }).pods?.create).toEqual([
    { index: 0, failureCounts: { failures: 1, ignored: 0 } },
  ]);
  expect(plan({ job: one, pods: [] }).pods?.create).toEqual([{ index: 0, failureCounts: { failures: 0, ignored: 0 } }]);
});

test("an ignored failure of an index is counted apart, and the delay grows with both", () => {
  const podFailurePolicy = { rules: [{ action: "Ignore", onExitCodes: { operator: "In", values: [1] } }] };
  const one = indexed(1, { backoffLimitPerIndex: 5, podFailurePolicy });
  const first = plan({ job: one, pods: [failed("f", { index: 0, failures: 0 })], ...after(10) });
  expect(first.pods?.create).toEqual([{ index: 0, failureCounts: { failures: 0, ignored: 1 } }]);
  const second = plan({ job: one, pods: [failed("g", { index: 0, failures: 0, ignored: 1 })], ...after(1) });
  expect(second.pods?.retryAfterMs).toBe(19_000);
});

test("of two failed pods of one index, the higher count is carried on, and of equal ones the later end", () => {
  const carried = (pods: PodObject[]) =>
    plan({ job: indexed(1, { backoffLimitPerIndex: 5 }), pods, ...after(999) }).pods?.create[0]?.failureCounts
      ?.failures;
  expect(carried([failed("a", { index: 0, failures: 1 }), failed("b", { index: 0, failures: 0 })])).toBe(2);
  expect(carried([failed("a", { index: 0, failures: 0 }), failed("b", { index: 0, failures: 1, finishedAt: 5 })])).toBe(
    2,
  );
  const equal = [
    failed("a", { index: 0, failures: 1, finishedAt: 9 }),
    failed("b", { index: 0, failures: 1, finishedAt: 4 }),
  ];
  expect(plan({ job: indexed(1, { backoffLimitPerIndex: 5 }), pods: equal, ...after(10) }).pods?.retryAfterMs).toBe(
    19_000,
  );
});

test.each([
  [undefined, 1],
  ["x", 1],
  ["-1", 1],
  ["2147483648", 1],
  ["7", 8],
])("the count %j of a failed pod is followed by %d", (failures, next) => {
  const pods = [failed("a", { index: 0, ...(failures !== undefined && { failures }) })];
  const retry = plan({ job: indexed(1, { backoffLimitPerIndex: 100 }), pods, ...after(9999) });
  expect(retry.pods?.create[0]?.failureCounts?.failures).toBe(next);
});

test("an index in backoff holds its place; with more places, those that are due go ahead", () => {
  const early = failed("a", { index: 0, failures: 0, finishedAt: 0 });
  const late = failed("b", { index: 1, failures: 0, finishedAt: 5 });
  const spec = { backoffLimitPerIndex: 5, completions: 3 };
  expect(created(plan({ job: indexed(3, { ...spec, parallelism: 1 }), pods: [early], ...after(5) }))).toEqual([]);
  const two = plan({ job: indexed(3, { ...spec, parallelism: 2 }), pods: [early, late], ...after(10) });
  expect(created(two)).toEqual([0]);
  expect(two.pods?.retryAfterMs).toBeUndefined();
});

test("an index that is given up is not created", () => {
  const pods = [failed("a", { index: 0, failures: 1 })];
  const rest = plan({ job: indexed(3, { parallelism: 1, backoffLimitPerIndex: 1 }), pods, ...after(60) });
  expect(created(rest)).toEqual([1]);
});

test("the deadline is waited for from the start, not while suspended", () => {
  const started = { status: { startTime: "2025-12-31T23:59:40Z" } };
  expect(plan({ job: job({ activeDeadlineSeconds: 50 }, started), pods: [] }).deadlineInMs).toBe(30_000);
  expect(plan({ job: job({ activeDeadlineSeconds: 50 }), pods: [] })).toMatchObject({
    deadlineInMs: 50_000,
    startMs: T0,
  });
  expect(
    plan({ job: job({ activeDeadlineSeconds: 50, suspend: true }, started), pods: [] }).deadlineInMs,
  ).toBeUndefined();
});

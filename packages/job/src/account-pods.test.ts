import { type JobCondition, deepFreeze } from "@kubewright/api";
import { expect, test } from "vitest";

import { T0, at, conditionsOf, dryRun, failed, indexed, job, pod, succeeded } from "../test/fixtures.js";
import { defaultJobLimits } from "./job-limits.js";
import { explainJobReason } from "./job-reason.js";
import type { PodObject } from "./job-spec.js";

const condition = (type: string, status = "True", reason = "Because"): JobCondition => ({
  type,
  status,
  reason,
  message: "of that",
});
const many = (count: number, phase: string, options: Parameters<typeof pod>[1] = {}): PodObject[] =>
  Array.from({ length: count }, (_, number) => pod(`p${String(number).padStart(4, "0")}`, { phase, ...options }));
/** A status written by earlier syncs. */
const status = (rest: object = {}) =>
  deepFreeze({ startTime: at(-60), ready: 0, terminating: 0, uncountedTerminatedPods: {}, ...rest });

test("the first sync writes counts, start time and an empty accounting, once", () => {
  const { first, second } = dryRun({ job: job({ parallelism: 2, completions: 5 }), pods: [] });
  expect(first).toEqual({ startTime: at(0), active: 2, ready: 0, terminating: 0, uncountedTerminatedPods: {} });
  expect(second).toBeUndefined();
});

test("a start time that is missing goes with the next write, though the counts are right", () => {
  const recovered = job({ parallelism: 1 }, { status: { active: 1, ready: 0, terminating: 0 } });
  expect(dryRun({ job: recovered, pods: [pod("a"), succeeded("b")] }).first).toMatchObject({
    startTime: at(0),
    uncountedTerminatedPods: { succeeded: ["uid-b"] },
  });
});

test("a sync that changes nothing writes nothing", () => {
  const steady = job({ parallelism: 2, completions: 5 }, { status: status({ active: 2, ready: 1 }) });
  const { first, second, finalizersRemoved } = dryRun({ job: steady, pods: [pod("a", { ready: true }), pod("b")] });
  expect([first, second, finalizersRemoved]).toEqual([undefined, undefined, []]);
});

test("ready and terminating pods are counted, with or without finalizer", () => {
  const pods = [
    pod("a", { ready: true }),
    pod("b", { ready: true, tracked: false }),
    pod("c"),
    pod("d", { deletedAt: 0, tracked: false }),
  ];
  expect(dryRun({ job: job({ parallelism: 3, completions: 5 }), pods }).first).toMatchObject({
    active: 3,
    ready: 2,
    terminating: 1,
  });
});

test("ended pods are recorded before they lose their finalizer, and counted after", () => {
  const { first, finalizersRemoved, second } = dryRun({
    job: job({ completions: 3, parallelism: 1 }, { status: status() }),
    pods: [succeeded("s"), failed("f")],
  });
  expect(first).toMatchObject({ uncountedTerminatedPods: { succeeded: ["uid-s"], failed: ["uid-f"] } });
  expect(first?.succeeded).toBeUndefined();
  expect(finalizersRemoved).toEqual(["f", "s"]);
  expect(second).toMatchObject({ succeeded: 1, failed: 1, uncountedTerminatedPods: {} });
});

test("when no finalizer can be removed nothing is counted, and when some can, those", () => {
  const input = { job: job({ completions: 3 }, { status: status() }), pods: [succeeded("s"), failed("f")] };
  expect(dryRun({ ...input, refuse: ["s", "f"] }).second).toBeUndefined();
  expect(dryRun({ ...input, refuse: ["f"] }).second).toMatchObject({
    succeeded: 1,
    uncountedTerminatedPods: { failed: ["uid-f"] },
  });
});

test("recorded pods that have no finalizer any more are counted, and the others not recorded twice", () => {
  const uncountedTerminatedPods = { failed: ["uid-a", "uid-b", "uid-gone"] };
  const input = {
    job: job({}, { status: status({ uncountedTerminatedPods }) }),
    pods: [failed("a", { tracked: false }), failed("b")],
  };
  const { first, second } = dryRun(input);
  expect(first).toMatchObject({ failed: 2, uncountedTerminatedPods: { failed: ["uid-b"] } });
  expect(second).toMatchObject({ failed: 3, uncountedTerminatedPods: {} });
});

test("recorded pods whose finalizer one sync does not reach stay recorded, and are counted once", () => {
  const uncountedTerminatedPods = { succeeded: ["uid-a", "uid-b"] };
  const { first, finalizersRemoved, second } = dryRun({
    job: job({ completions: 5, parallelism: 1 }, { status: status({ active: 1, uncountedTerminatedPods }) }),
    pods: [succeeded("a"), succeeded("b"), pod("c")],
    limits: { ...defaultJobLimits, maxUncountedPods: 2 },
  });
  expect([first, finalizersRemoved]).toEqual([undefined, ["a"]]);
  expect(second).toMatchObject({ succeeded: 1, uncountedTerminatedPods: { succeeded: ["uid-b"] } });
});

test("a pod whose finalizer is known to be gone is not counted again, whatever the cache shows", () => {
  const { first, finalizersRemoved } = dryRun({
    job: job({ completions: 3 }, { status: status({ active: 1, succeeded: 1 }) }),
    pods: [succeeded("s"), pod("r")],
    finalizersBeingRemoved: new Set(["uid-s"]),
  });
  expect([first, finalizersRemoved]).toEqual([undefined, []]);
});

test("a pod that was recorded as failed stays failed when it succeeds after all", () => {
  const recorded = job({ completions: 2 }, { status: status({ uncountedTerminatedPods: { failed: ["uid-a"] } }) });
  const { second } = dryRun({ job: recorded, pods: [succeeded("a")] });
  expect(second).toMatchObject({ failed: 1 });
  expect(second?.succeeded).toBeUndefined();
});

test("a pod that was recorded as succeeded stays succeeded when it fails after all, and delays no other", () => {
  const uncountedTerminatedPods = { succeeded: ["uid-a"] };
  const recorded = job(
    { completions: 2, parallelism: 1, backoffLimit: 0 },
    { status: status({ uncountedTerminatedPods }) },
  );
  const { plan, first, second } = dryRun({ job: recorded, pods: [failed("a")] });
  expect(plan.observed).toMatchObject({ succeeded: 1, failed: 0, newlyFailed: [] });
  expect(plan.backoff).toEqual({ failuresAfterLastSuccess: 0 });
  expect(first).toMatchObject({ active: 1, uncountedTerminatedPods });
  expect(second).toMatchObject({ succeeded: 1, uncountedTerminatedPods: {} });
  expect(second?.failed).toBeUndefined();
});

test("a pod that was recorded as failed completes nothing by succeeding after all", () => {
  const recorded = job({ completions: 1 }, { status: status({ uncountedTerminatedPods: { failed: ["uid-a"] } }) });
  const { plan, second } = dryRun({ job: recorded, pods: [succeeded("a")] });
  expect(plan.observed).toMatchObject({ succeeded: 0, failed: 1, newlySucceeded: [] });
  expect(second).toMatchObject({ failed: 1 });
  expect(conditionsOf(second)).toEqual([]);
});

test("an index that was recorded as failed stays failed, one as succeeded succeeded, and one that is both succeeded", () => {
  const limited = (recorded: object) => indexed(2, { backoffLimitPerIndex: 0 }, { status: status(recorded) });
  const both = [failed("f", { index: 0 }), succeeded("s", { index: 0 }), pod("r", { index: 1 })];
  const after = (recorded: object) => dryRun({ job: limited(recorded), pods: both }).status;
  expect(after({ failedIndexes: "0" }).completedIndexes).toBeUndefined();
  expect(after({ failedIndexes: "0" })).toMatchObject({ failedIndexes: "0", failed: 1 });
  expect(after({ failedIndexes: "0" }).succeeded).toBeUndefined();
  expect(after({ failedIndexes: "", completedIndexes: "0", succeeded: 1 })).toMatchObject({
    completedIndexes: "0",
    failedIndexes: "",
    succeeded: 1,
    failed: 1,
  });
  expect(after({ failedIndexes: "" })).toMatchObject({ completedIndexes: "0", failedIndexes: "", succeeded: 1 });
});

test("a number of successes that disagrees with the indexes is put right with the next write, and makes none", () => {
  const wrong = status({ active: 2, completedIndexes: "0", succeeded: 3 });
  const pods = [pod("a", { index: 1 }), pod("b", { index: 2 })];
  expect(dryRun({ job: indexed(3, {}, { status: wrong }), pods }).first).toBeUndefined();
  const ready = [pod("a", { index: 1, ready: true }), pod("b", { index: 2 })];
  expect(dryRun({ job: indexed(3, {}, { status: wrong }), pods: ready }).first).toMatchObject({
    ready: 1,
    completedIndexes: "0",
    succeeded: 1,
  });
});

test("a pod without finalizer is taken for counted", () => {
  const {
    status: after,
    finalizersRemoved,
    plan,
  } = dryRun({ job: job({}, { status: status() }), pods: [failed("f", { tracked: false })] });
  expect(finalizersRemoved).toEqual([]);
  expect(after.failed).toBeUndefined();
  expect(plan.observed.active).toEqual([]);
});

test("one sync records at most 500 pods, and does not end the Job before the rest is counted", () => {
  const { first, second, finalizersRemoved } = dryRun({
    job: job({ completions: 600, parallelism: 600 }, { status: status() }),
    pods: many(600, "Succeeded"),
  });
  expect(first?.uncountedTerminatedPods?.succeeded).toHaveLength(500);
  expect(conditionsOf(first)).toEqual(["SuccessCriteriaMet=True CompletionsReached"]);
  expect(finalizersRemoved).toHaveLength(500);
  expect(second?.succeeded).toBe(500);
  expect(conditionsOf(second)).toEqual(["SuccessCriteriaMet=True CompletionsReached"]);
});

test("a terminating pod counts as failed at once, or, where only failed pods are replaced, when it has ended", () => {
  const pods = [pod("a", { deletedAt: 0 })];
  const whileTerminating = dryRun({ job: job({}, { status: status({ active: 1 }) }), pods });
  expect(whileTerminating.second).toMatchObject({ failed: 1, terminating: 1 });
  const later = job({ podReplacementPolicy: "Failed" }, { status: status({ active: 1 }) });
  expect(dryRun({ job: later, pods })).toMatchObject({ finalizersRemoved: [], status: { terminating: 1 } });
  expect(dryRun({ job: later, pods: [failed("a", { deletedAt: 0 })] }).second).toMatchObject({
    failed: 1,
    terminating: 0,
  });
});

test("a Job without pods left fails in one sync: the cause is recorded first, the end after the count", () => {
  const { first, second } = dryRun({
    job: job({ backoffLimit: 0 }, { status: status({ active: 1 }) }),
    pods: [failed("f")],
  });
  expect(conditionsOf(first)).toEqual(["FailureTarget=True BackoffLimitExceeded"]);
  expect(conditionsOf(second)).toEqual(["FailureTarget=True BackoffLimitExceeded", "Failed=True BackoffLimitExceeded"]);
  expect(second).toMatchObject({ failed: 1 });
  expect(second?.completionTime).toBeUndefined();
  expect(second?.conditions?.[1]).toMatchObject({
    message: "Job has reached the specified backoff limit",
    lastTransitionTime: at(0),
    lastProbeTime: at(0),
  });
});

test("a failing Job deletes its active pods, counts them as failed, and ends when they are gone", () => {
  const going = job({ backoffLimit: 0, parallelism: 3, completions: 3 }, { status: status({ active: 3, ready: 1 }) });
  const { first, second, finalizersRemoved } = dryRun({
    job: going,
    pods: [failed("a"), pod("b"), pod("c", { ready: true })],
  });
  expect(first).toMatchObject({
    terminating: 2,
    ready: 0,
    uncountedTerminatedPods: { failed: ["uid-a", "uid-b", "uid-c"] },
  });
  expect(finalizersRemoved).toEqual(["a", "b", "c"]);
  expect(second).toMatchObject({ failed: 3, terminating: 2 });
  expect(conditionsOf(second)).toEqual(["FailureTarget=True BackoffLimitExceeded"]);

  const gone = job(going.spec as object, { status: second! });
  const last = dryRun({ job: gone, pods: [failed("a", { tracked: false })] });
  expect(last.first).toMatchObject({ terminating: 0, failed: 3 });
  expect(conditionsOf(last.second)).toEqual([
    "FailureTarget=True BackoffLimitExceeded",
    "Failed=True BackoffLimitExceeded",
  ]);
});

test("when an active pod cannot be deleted, or pods are not seen yet, the end is not recorded, but failures are", () => {
  const going = job({ backoffLimit: 0, parallelism: 3, completions: 3 }, { status: status({ active: 3 }) });
  const refused = dryRun({ job: going, pods: [failed("a"), pod("b"), pod("c")], refuse: ["c"] });
  expect(refused.status).toMatchObject({ active: 1, terminating: 1, failed: 1 });
  expect(conditionsOf(refused.status)).toEqual([]);
  const notObserved = dryRun({
    job: job({ backoffLimit: 0 }, { status: status() }),
    pods: [failed("a")],
    expectationsSatisfied: false,
  });
  expect(notObserved.status).toMatchObject({ failed: 1 });
  expect(conditionsOf(notObserved.status)).toEqual([]);
});

test("a recorded end is carried out whatever pods do since", () => {
  const failing = job({}, { status: status({ failed: 1, conditions: [condition("FailureTarget")] }) });
  const afterFailure = dryRun({ job: failing, pods: [] });
  expect(afterFailure.first).toBeUndefined();
  expect(conditionsOf(afterFailure.second)).toEqual(["FailureTarget=True Because", "Failed=True Because"]);
  const succeeding = job({ backoffLimit: 0 }, { status: status({ conditions: [condition("SuccessCriteriaMet")] }) });
  const afterSuccess = dryRun({ job: succeeding, pods: [failed("a"), failed("b")] });
  expect(afterSuccess.second).toMatchObject({ failed: 2, completionTime: at(0) });
  expect(conditionsOf(afterSuccess.second)).toEqual(["SuccessCriteriaMet=True Because", "Complete=True Because"]);
});

test("a condition with status False is replaced, not duplicated", () => {
  const odd = job({ backoffLimit: 0 }, { status: status({ conditions: [condition("FailureTarget", "False")] }) });
  expect(conditionsOf(dryRun({ job: odd, pods: [failed("a")] }).second)).toEqual([
    "FailureTarget=True BackoffLimitExceeded",
    "Failed=True BackoffLimitExceeded",
  ]);
});

test("a Job completes no earlier than it started, also by a clock that was set back in between", () => {
  const startTime = at(3600);
  const { second } = dryRun({
    job: job({ completions: 1 }, { status: status({ active: 1, startTime }) }),
    pods: [succeeded("s")],
  });
  expect(second).toMatchObject({ startTime, completionTime: startTime });
});

test("reached completions end the Job in one sync when nothing is left", () => {
  const { first, second } = dryRun({
    job: job({ completions: 1 }, { status: status({ active: 1 }) }),
    pods: [succeeded("s")],
    nowMs: T0 + 500,
  });
  expect(conditionsOf(first)).toEqual(["SuccessCriteriaMet=True CompletionsReached"]);
  expect(second).toMatchObject({ succeeded: 1, completionTime: at(0) });
  expect(conditionsOf(second)).toEqual([
    "SuccessCriteriaMet=True CompletionsReached",
    "Complete=True CompletionsReached",
  ]);
});

test("without completions, a success ends the Job once nothing is active, whatever else failed", () => {
  const open = job({ parallelism: 2 }, { status: status({ active: 2 }) });
  expect(conditionsOf(dryRun({ job: open, pods: [succeeded("s"), pod("r")] }).status)).toEqual([]);
  const { second } = dryRun({ job: open, pods: [succeeded("s"), failed("f")] });
  expect(second).toMatchObject({ succeeded: 1, failed: 1 });
  expect(conditionsOf(second).at(-1)).toBe("Complete=True CompletionsReached");
});

test("no completions wanted at all is complete at once, even suspended", () => {
  expect(conditionsOf(dryRun({ job: job({ completions: 0 }), pods: [] }).second).at(-1)).toBe(
    "Complete=True CompletionsReached",
  );
  const suspended = dryRun({ job: job({ completions: 0, suspend: true }), pods: [] });
  expect(conditionsOf(suspended.second).at(-1)).toBe("Complete=True CompletionsReached");
  expect(suspended.second?.startTime).toBeUndefined();
});

test("a Job that ends while it is suspended has started, if only now: no end is accepted without a start", () => {
  const suspended = status({
    startTime: undefined,
    conditions: [{ type: "Suspended", status: "True", reason: "JobSuspended", message: "Job suspended" }],
  });
  const failing = dryRun({
    job: job({ backoffLimit: 0, suspend: true }, { status: suspended }),
    pods: [failed("f")],
    nowMs: T0 + 30_000,
  });
  expect(conditionsOf(failing.second).at(-1)).toBe("Failed=True BackoffLimitExceeded");
  expect(failing.second?.startTime).toBe(at(30));
  const completing = dryRun({
    job: job({ completions: 1, suspend: true }, { status: suspended }),
    pods: [succeeded("s")],
    nowMs: T0 + 30_000,
  });
  expect(conditionsOf(completing.second).at(-1)).toBe("Complete=True CompletionsReached");
  expect(completing.second?.startTime).toBe(at(30));
  expect(completing.second?.completionTime).toBe(at(30));
});

test("failure wins when completions are reached in the same sync", () => {
  const { second } = dryRun({
    job: job({ completions: 1, backoffLimit: 0 }, { status: status() }),
    pods: [succeeded("s"), failed("f")],
  });
  expect(conditionsOf(second).at(-1)).toBe("Failed=True BackoffLimitExceeded");
});

test("removed pods are terminating at once, and never counted as failed", () => {
  const { first, finalizersRemoved } = dryRun({
    job: job({ parallelism: 2, completions: 5 }, { status: status({ active: 10 }) }),
    pods: many(10, "Running"),
  });
  expect(first).toMatchObject({ active: 2, terminating: 8 });
  expect(first?.failed).toBeUndefined();
  expect(finalizersRemoved).toEqual([]);
});

test("suspending clears the start time, resuming sets it again, and only a former suspension is reported as resumed", () => {
  const running = dryRun({
    job: job({ suspend: true, parallelism: 2 }, { status: status({ active: 2 }) }),
    pods: [pod("a"), pod("b")],
  });
  expect(running.suspension).toBe("Suspended");
  expect(running.first).toMatchObject({
    terminating: 2,
    conditions: [{ type: "Suspended", status: "True", reason: "JobSuspended", message: "Job suspended" }],
  });
  expect(running.first?.startTime).toBeUndefined();
  expect(running.first?.active).toBeUndefined();

  const resumed = dryRun({ job: job({ parallelism: 2 }, { status: running.first! }), pods: [], nowMs: T0 + 30_000 });
  expect(resumed.suspension).toBe("Resumed");
  expect(resumed.first).toMatchObject({
    active: 2,
    startTime: at(30),
    conditions: [{ type: "Suspended", status: "False", reason: "JobResumed", lastTransitionTime: at(30) }],
  });

  const again = dryRun({ job: job({ parallelism: 2 }, { status: resumed.first! }), pods: [pod("a"), pod("b")] });
  expect([again.first, again.suspension]).toEqual([undefined, undefined]);
  expect(dryRun({ job: job(), pods: [] }).suspension).toBeUndefined();
});

test("resuming during a backoff sets condition and start time, and creates nothing yet", () => {
  const suspended = {
    status: { conditions: [condition("Suspended")], ready: 0, terminating: 0, uncountedTerminatedPods: {} },
  };
  const { first, plan } = dryRun({
    job: job({}, suspended),
    pods: [],
    backoff: { failuresAfterLastSuccess: 1, lastFailureMs: T0 },
  });
  expect(plan.pods?.create).toEqual([]);
  expect(first).toMatchObject({ startTime: at(0), conditions: [{ type: "Suspended", status: "False" }] });
});

test("suspension is ignored while pods are not observed yet or the Job is being deleted", () => {
  const input = { job: job({ suspend: true }, { status: status({ active: 1 }) }), pods: [pod("a")] };
  const notObserved = dryRun({ ...input, expectationsSatisfied: false });
  expect([notObserved.first, notObserved.suspension]).toEqual([undefined, undefined]);
  const deleting = job({ suspend: true }, { deletionTimestamp: at(0), status: status({ active: 1 }) });
  expect(dryRun({ job: deleting, pods: [pod("a")] }).suspension).toBeUndefined();
});

test("a Job being deleted removes the finalizers of all its pods, and counts those that have ended", () => {
  const deleting = job({ completions: 5, parallelism: 2 }, { deletionTimestamp: at(0), status: status({ active: 1 }) });
  const { finalizersRemoved, second } = dryRun({ job: deleting, pods: [pod("r"), succeeded("s")] });
  expect(finalizersRemoved).toEqual(["r", "s"]);
  expect(second).toMatchObject({ succeeded: 1, active: 1 });
  expect(second?.failed).toBeUndefined();
});

test("an indexed Job's successes are counted by index, in a single write", () => {
  const pods = [
    succeeded("a", { index: 1 }),
    succeeded("b", { index: 3 }),
    succeeded("c", { index: 3 }),
    succeeded("d"),
  ];
  const { first, finalizersRemoved, second } = dryRun({ job: indexed(7, {}, { status: status() }), pods });
  expect(first).toMatchObject({ succeeded: 2, completedIndexes: "1,3", uncountedTerminatedPods: {} });
  expect(finalizersRemoved).toHaveLength(4);
  expect(second).toBeUndefined();
});

test("an indexed Job's failures are counted by pod, those without a valid index not at all", () => {
  const pods = [
    failed("a", { index: 1 }),
    failed("b", { index: 3 }),
    failed("c", { index: 3 }),
    failed("d"),
    failed("e", { index: 9 }),
  ];
  const { finalizersRemoved, second } = dryRun({ job: indexed(7, {}, { status: status() }), pods });
  expect(second?.failed).toBe(3);
  expect(finalizersRemoved).toHaveLength(5);
});

test("a succeeded pod without finalizer is taken for counted, also when its index is not in the status", () => {
  const { plan } = dryRun({
    job: indexed(2, {}, { status: status() }),
    pods: [succeeded("a", { index: 0, tracked: false })],
  });
  expect(plan.succeeded).toBe(0);
  expect(plan.pods?.create).toEqual([{ index: 0 }, { index: 1 }]);
});

test("succeeded indexes join those of before", () => {
  const before = status({ completedIndexes: "0-2,4,6,7", succeeded: 6 });
  const { status: after } = dryRun({
    job: indexed(7, {}, { status: before }),
    pods: [succeeded("a", { index: 1 }), succeeded("b", { index: 3 })],
  });
  expect(after).toMatchObject({ completedIndexes: "0-4,6", succeeded: 6 });
});

test("lowering completions forgets indexes and not failures, raising them runs the index again", () => {
  const before = status({ completedIndexes: "2", succeeded: 1, failed: 4, active: 2 });
  const pods = [pod("a", { index: 0 }), pod("b", { index: 1 })];
  const lowered = dryRun({ job: indexed(2, {}, { status: before }), pods });
  expect(lowered.first).toMatchObject({ failed: 4, active: 2 });
  expect([lowered.first?.completedIndexes, lowered.first?.succeeded]).toEqual([undefined, undefined]);
  const raised = dryRun({ job: indexed(3, {}, { status: lowered.first! }), pods });
  expect(raised.plan.pods?.create).toEqual([{ index: 2 }]);
});

test("completions lowered to 0 remove all pods, and complete the Job when they are gone", () => {
  const { status: after, plan } = dryRun({
    job: indexed(0, {}, { status: status({ active: 2 }) }),
    pods: [pod("a", { index: 0 }), pod("b", { index: 1 })],
  });
  expect(plan.pods?.remove).toHaveLength(2);
  expect(conditionsOf(after)).toEqual(["SuccessCriteriaMet=True CompletionsReached"]);
  expect(conditionsOf(dryRun({ job: indexed(0, {}, { status: after }), pods: [] }).status).at(-1)).toBe(
    "Complete=True CompletionsReached",
  );
});

test("a failed pod that carries its index's count is kept until its successor has it", () => {
  const spec = { backoffLimitPerIndex: 1 };
  const old = failed("old", { index: 0, failures: 0 });
  const waiting = dryRun({
    job: indexed(2, spec, { status: status({ active: 2, failedIndexes: "" }) }),
    pods: [old, pod("r", { index: 1 })],
  });
  expect(waiting.finalizersRemoved).toEqual([]);
  expect(waiting.status).toMatchObject({ active: 1, failedIndexes: "" });
  expect(waiting.status.failed).toBeUndefined();

  const replaced = dryRun({
    job: indexed(2, spec, { status: waiting.status }),
    pods: [old, pod("r", { index: 1 }), pod("new", { index: 0, failures: 1 })],
  });
  expect(replaced.finalizersRemoved).toEqual(["old"]);
  expect(replaced.second?.failed).toBe(1);
});

test("an index that is given up is recorded, and its pod counted at once", () => {
  const { status: after, finalizersRemoved } = dryRun({
    job: indexed(2, { backoffLimitPerIndex: 1 }, { status: status({ active: 2, failedIndexes: "" }) }),
    pods: [failed("f", { index: 0, failures: 1 }), pod("r", { index: 1 })],
  });
  expect(after).toMatchObject({ failedIndexes: "0", failed: 1 });
  expect(finalizersRemoved).toEqual(["f"]);
});

test("the first sync of a Job with a limit per index writes that no index has failed", () => {
  expect(dryRun({ job: indexed(2, { backoffLimitPerIndex: 1 }), pods: [] }).first).toMatchObject({ failedIndexes: "" });
  expect(dryRun({ job: indexed(2), pods: [] }).first?.failedIndexes).toBeUndefined();
});

test("a met success policy deletes the pods that still run, without counting them as failed", () => {
  const successPolicy = { rules: [{ succeededIndexes: "0-2" }] };
  const going = indexed(4, { successPolicy }, { status: status({ active: 4 }) });
  const pods = [...[0, 1, 2].map((index) => succeeded(`s${index}`, { index })), pod("r", { index: 3 })];
  const { status: after, finalizersRemoved } = dryRun({ job: going, pods });
  expect(after).toMatchObject({ succeeded: 3, completedIndexes: "0-2", terminating: 1 });
  expect(after.failed).toBeUndefined();
  expect(finalizersRemoved).toEqual(["s0", "s1", "s2", "r"]);
  expect(conditionsOf(after)).toEqual(["SuccessCriteriaMet=True SuccessPolicy"]);
  const done = dryRun({ job: indexed(4, { successPolicy }, { status: after }), pods: [] });
  expect(conditionsOf(done.second).at(-1)).toBe("Complete=True SuccessPolicy");
});

test("too many failed indexes fail the pods that still run", () => {
  const going = indexed(
    5,
    { backoffLimitPerIndex: 0, maxFailedIndexes: 1 },
    { status: status({ active: 5, failedIndexes: "" }) },
  );
  const pods = [failed("a", { index: 0 }), failed("b", { index: 3 }), pod("c", { index: 1 })];
  const { status: after } = dryRun({ job: going, pods });
  expect(after).toMatchObject({ failed: 3, failedIndexes: "0,3", terminating: 1 });
  expect(conditionsOf(after)).toEqual(["FailureTarget=True MaxFailedIndexesExceeded"]);
});

test("ignored failures are released and not counted, also those of pods that a failing Job takes down", () => {
  const rules = [
    { action: "FailJob", onExitCodes: { operator: "In", values: [5] } },
    { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] },
  ];
  const conditions = [{ type: "DisruptionTarget", status: "True" }];
  const going = job({ parallelism: 3, completions: 3, podFailurePolicy: { rules } }, { status: status({ active: 3 }) });
  const ignored = dryRun({ job: going, pods: [failed("a", { conditions }), pod("b"), pod("c")] });
  expect(ignored.finalizersRemoved).toEqual(["a"]);
  expect(ignored.status.failed).toBeUndefined();
  const failing = dryRun({ job: going, pods: [failed("a", { exitCode: 5 }), pod("b", { conditions }), pod("c")] });
  expect(failing.finalizersRemoved).toEqual(["a", "b", "c"]);
  expect(failing.status.failed).toBe(2);
});

test("every decision has an explanation", () => {
  const explain = (input: Parameters<typeof dryRun>[0]): string[] => dryRun(input).plan.reasons.map(explainJobReason);
  expect(explain({ job: job({ parallelism: 2, completions: 5 }), pods: [] })).toEqual([
    "creating 2 pods: 0 active, 2 wanted",
  ]);
  expect(explain({ job: job(), pods: [failed("f")] })).toEqual([
    "waiting 10 s before replacing a failed pod (1 failure since the last success)",
  ]);
  expect(explain({ job: job({ backoffLimit: 0 }), pods: [failed("f"), pod("r")] })).toEqual([
    "failing: BackoffLimitExceeded: Job has reached the specified backoff limit; deleting 1 active pod",
  ]);
  expect(explain({ job: job({ suspend: true }), pods: [] })).toEqual(["suspended: no pods are created"]);
});

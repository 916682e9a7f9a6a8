import type { JobCondition, JobSpec } from "@kubewright/api";
import { expect, test } from "vitest";

import { T0, at, failed, indexed, job, plan, pod, succeeded } from "../test/fixtures.js";
import type { JobObject, PodObject } from "./job-spec.js";

const reasonOf = (of: JobObject, pods: PodObject[], seconds = 0): string | undefined =>
  plan({ job: of, pods, nowMs: T0 + seconds * 1000 }).end?.reason;
const failures = (count: number): PodObject[] => Array.from({ length: count }, (_, number) => failed(`f${number}`));
const condition = (type: string, status = "True"): JobCondition => ({
  type,
  status,
  reason: "Because",
  message: "of that",
});

test("more failures than the backoff limit end the Job", () => {
  const outcomes = [0, 1, 2].map((limit) => reasonOf(job({ backoffLimit: limit }), failures(2)));
  expect(outcomes).toEqual(["BackoffLimitExceeded", "BackoffLimitExceeded", undefined]);
  expect(reasonOf(job(), failures(6))).toBeUndefined();
  expect(reasonOf(job(), failures(7))).toBe("BackoffLimitExceeded");
  const counted = { status: { failed: 2, uncountedTerminatedPods: { failed: ["gone"] } } };
  expect(reasonOf(job({ backoffLimit: 3 }, counted), failures(1))).toBe("BackoffLimitExceeded");
});

test("a failed pod without a valid index does not count toward the limit", () => {
  expect(reasonOf(indexed(3, { backoffLimit: 0 }), [failed("a", { index: 3 }), failed("b")])).toBeUndefined();
});

test("with restartPolicy OnFailure, as many restarts as the limit end the Job, and with limit 0 one", () => {
  const restarting = (backoffLimit: number, ...restarts: number[]): string | undefined => {
    const template: JobSpec["template"] = { spec: { restartPolicy: "OnFailure", containers: [] } };
    return reasonOf(job({ backoffLimit, template }), [
      ...restarts.map((count, number) => pod(`r${number}`, { restarts: count })),
      succeeded("s", { restarts: 99 }),
    ]);
  };
  expect(restarting(0, 0)).toBeUndefined();
  expect(restarting(0, 1)).toBe("BackoffLimitExceeded");
  expect(restarting(1, 1)).toBe("BackoffLimitExceeded");
  expect(restarting(6, 3, 3)).toBe("BackoffLimitExceeded");
  expect(restarting(6, 3, 2)).toBeUndefined();
  expect(reasonOf(job({ backoffLimit: 0 }), [pod("r", { restarts: 9 })])).toBeUndefined();
});

test("a Job ends when it has been active too long, also without any pod, but not while suspended", () => {
  const started = { status: { startTime: at(-15) } };
  expect(reasonOf(job({ activeDeadlineSeconds: 10 }, started), [])).toBe("DeadlineExceeded");
  expect(reasonOf(job({ activeDeadlineSeconds: 15 }, started), [])).toBe("DeadlineExceeded");
  expect(reasonOf(job({ activeDeadlineSeconds: 16 }, started), [])).toBeUndefined();
  expect(reasonOf(job({ activeDeadlineSeconds: 0 }), [])).toBe("DeadlineExceeded");
  expect(reasonOf(job({ activeDeadlineSeconds: 10, suspend: true }, started), [])).toBeUndefined();
});

test("a deadline beyond 292 years wraps around as Go's durations do: one of 317 years has passed already", () => {
  const started = { status: { startTime: at(-15) } };
  const left = (seconds: number) => plan({ job: job({ activeDeadlineSeconds: seconds }, started), pods: [pod("a")] });
  expect(left(9_223_372_036).deadlineInMs).toBe(9_223_372_021_000);
  expect(left(10_000_000_000).end?.reason).toBe("DeadlineExceeded");
  expect(left(20_000_000_000).end).toBeUndefined();
  expect(left(20_000_000_000).deadlineInMs).toBeCloseTo(1_553_255_911_290.448, 2);
});

test("a FailJob rule ends the Job, also for a pod that was counted long ago, and before any limit does", () => {
  const podFailurePolicy = { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [1] } }] };
  const { end } = plan({ job: job({ podFailurePolicy, backoffLimit: 0 }), pods: [failed("f", { tracked: false })] });
  expect(end).toEqual({
    type: "FailureTarget",
    reason: "PodFailurePolicy",
    message: "Container main for pod ns/f failed with exit code 1 matching FailJob rule at index 0",
    recorded: false,
  });
});

test("a FailJob rule does not look at a pod that is still terminating", () => {
  const podFailurePolicy = {
    rules: [{ action: "FailJob", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }],
  };
  const conditions = [{ type: "DisruptionTarget", status: "True" }];
  expect(reasonOf(job({ podFailurePolicy }), [pod("p", { conditions, deletedAt: 0 })])).toBeUndefined();
  expect(reasonOf(job({ podFailurePolicy }), [failed("p", { conditions, deletedAt: 0 })])).toBe("PodFailurePolicy");
});

test("what the status has recorded is final, success before failure, unless its status is False", () => {
  const recorded = (...conditions: JobCondition[]) =>
    plan({ job: job({ backoffLimit: 0 }, { status: { conditions } }), pods: failures(1) }).end;
  expect(recorded(condition("SuccessCriteriaMet"))).toEqual({
    type: "SuccessCriteriaMet",
    reason: "Because",
    message: "of that",
    recorded: true,
  });
  expect(recorded(condition("FailureTarget"))).toEqual({
    type: "FailureTarget",
    reason: "Because",
    message: "of that",
    recorded: true,
  });
  expect(recorded(condition("FailureTarget"), condition("SuccessCriteriaMet"))?.type).toBe("SuccessCriteriaMet");
  expect(recorded(condition("FailureTarget", "False"))?.reason).toBe("BackoffLimitExceeded");
  expect(recorded(condition("SuccessCriteriaMet", "False"))?.reason).toBe("BackoffLimitExceeded");
});

test("failed indexes end the Job when all indexes have ended, or when there are too many of them", () => {
  const limit = { backoffLimitPerIndex: 0 };
  const pods = [failed("a", { index: 0 }), succeeded("b", { index: 1 })];
  expect(reasonOf(indexed(2, limit), pods)).toBe("FailedIndexes");
  expect(reasonOf(indexed(3, limit), pods)).toBeUndefined();
  expect(reasonOf(indexed(2, limit), pods.slice(1))).toBeUndefined();
  expect(reasonOf(indexed(5, { ...limit, maxFailedIndexes: 1 }), pods)).toBeUndefined();
  expect(reasonOf(indexed(5, { ...limit, maxFailedIndexes: 1 }), [...pods, failed("c", { index: 2 })])).toBe(
    "MaxFailedIndexesExceeded",
  );
  expect(reasonOf(indexed(5, { ...limit, maxFailedIndexes: 0 }), pods)).toBe("MaxFailedIndexesExceeded");
});

test("the Job's own backoff limit can be reached before any index is given up", () => {
  const pods = [0, 1, 2].map((index) => failed(`f${index}`, { index, failures: 0 }));
  const { end, indexes } = plan({ job: indexed(5, { backoffLimitPerIndex: 3, backoffLimit: 2 }), pods });
  expect(end?.reason).toBe("BackoffLimitExceeded");
  expect(indexes?.failed).toEqual([]);
});

test("a FailIndex rule gives an index up at its first failure", () => {
  const podFailurePolicy = { rules: [{ action: "FailIndex", onExitCodes: { operator: "In", values: [42] } }] };
  const { indexes } = plan({
    job: indexed(3, { backoffLimitPerIndex: 5, podFailurePolicy }),
    pods: [failed("a", { index: 1, exitCode: 42 }), failed("b", { index: 2 })],
  });
  expect(indexes?.failed).toEqual([{ first: 1, last: 1 }]);
});

test("a success policy is met in the sync that sees the pods, unless something fails the Job in the same sync", () => {
  const successPolicy = { rules: [{ succeededIndexes: "1" }] };
  const pods = [succeeded("a", { index: 1 }), pod("b", { index: 0 })];
  expect(plan({ job: indexed(2, { successPolicy }), pods }).end).toEqual({
    type: "SuccessCriteriaMet",
    reason: "SuccessPolicy",
    message: "Matched rules at index 0",
    recorded: false,
  });
  expect(reasonOf(indexed(3, { successPolicy, backoffLimit: 0 }), [...pods, failed("c", { index: 2 })])).toBe(
    "BackoffLimitExceeded",
  );
});

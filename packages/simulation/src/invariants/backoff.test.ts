import type { JobSpec, Pod, PodStatus } from "@kubewright/api";
import type { JobDecision } from "@kubewright/job";
import { expect, it } from "vitest";

import { History, START_MS } from "../../test/history.js";
import { condition, job, pod } from "../../test/objects.js";
import { backOff } from "./backoff.js";

const CONTROLLER = "job-controller";

/** Ends a sync. */
function decide(history: History, statusWrites: number): void {
  judge(history, { backoff: { failuresAfterLastSuccess: 0 } }, statusWrites);
}

/** Ends a sync with a plan. */
function judge(history: History, plan: object, statusWrites = 0): void {
  const observed = { tracked: [], newlySucceeded: [], newlyFailed: [] };
  const atMs = history.nowMs;
  const decision = { key: "default/pi", uid: "uid-of-pi", atMs, statusWrites, plan: { observed, ...plan } };
  history.decide({ controller: CONTROLLER, decision: decision as unknown as JobDecision });
}

function failedAt(ms: number, exitCode = 1): PodStatus {
  const terminated = { exitCode, finishedAt: new Date(ms).toISOString() };
  const state = { terminated };
  return { containerStatuses: [{ name: "main", image: "", imageID: "", ready: false, restartCount: 0, state }] };
}

/** Runs a pod that fails, and records the failure. */
function fail(history: History, name: string, by: object = {}): void {
  history.store(pod("Running", { name }), { component: CONTROLLER, ...by });
  history.store(pod("Failed", { name, status: failedAt(history.nowMs) }), "kubelet");
  record(history, [name], by);
}

function record(history: History, failed: string[], by: object = {}, succeeded: string[] = []): void {
  const uids = (names: string[]) => names.map((name) => `uid-of-${name}`);
  const uncountedTerminatedPods = { failed: uids(failed), succeeded: uids(succeeded) };
  history.store(job({ uncountedTerminatedPods }), { component: CONTROLLER, ...by });
}

it("refuses a replacement within 10 s of the first failure, 20 s of the second", () => {
  const history = new History(backOff);
  history.store(job());
  fail(history, "a");
  history.pass(10_000);
  fail(history, "b");
  expect(history.violations).toEqual([]);
  history.pass(10_000);
  history.store(pod("Pending", { name: "c" }), CONTROLLER);
  expect(history.violations).toEqual([
    "Job default/pi: gets Pod default/c 10 s after failure 2 in a row: that takes 20 s",
  ]);
});

it("counts from the failure that was recorded last, though another ended after it", () => {
  const createdAfter = (ms: number): readonly string[] => {
    const history = new History(backOff);
    history.store(job());
    for (const name of ["a", "b"]) history.store(pod("Running", { name }), CONTROLLER);
    const endedMs = history.nowMs;
    history.pass(4000);
    history.store(pod("Failed", { name: "b", status: failedAt(history.nowMs) }), "kubelet");
    record(history, ["b"]);
    history.pass(1000);
    history.store(pod("Failed", { name: "a", status: failedAt(endedMs) }), "kubelet");
    record(history, ["a", "b"]);
    history.pass(ms);
    history.store(pod("Pending", { name: "c" }), CONTROLLER);
    return history.violations;
  };
  expect(createdAfter(15_000)).toEqual([]);
  expect(createdAfter(13_000)).toEqual([
    "Job default/pi: gets Pod default/c 18 s after failure 2 in a row: that takes 20 s",
  ]);
});

it("counts from a failure in the controller's cache that no status records yet, when it ended long ago", () => {
  const createdWhen = (failed: Pod | undefined, isShown: boolean): readonly string[] => {
    const history = new History(backOff);
    history.store(job());
    history.store(pod("Running", { name: "old" }), CONTROLLER);
    history.pass(60_000);
    fail(history, "a");
    history.pass(2_000);
    if (failed !== undefined) {
      const stored = history.store(failed, "pod-garbage-collector-controller");
      if (isShown) history.show(stored, { component: CONTROLLER, type: "update" });
    }
    history.store(pod("Pending", { name: "b" }), CONTROLLER);
    return history.violations;
  };
  // Without an end time, the pod counts as ended at its creation.
  const creationTimestamp = new Date(START_MS).toISOString();
  const lost = pod("Failed", { name: "old", metadata: { creationTimestamp } });
  expect(createdWhen(lost, true)).toEqual([]);
  const refused = ["Job default/pi: gets Pod default/b 2 s after failure 1 in a row: that takes 10 s"];
  expect(createdWhen(lost, false)).toEqual(refused);
  expect(createdWhen(undefined, false)).toEqual(refused);
  const justNow = pod("Failed", { name: "old", metadata: { creationTimestamp }, status: failedAt(START_MS + 60_000) });
  expect(createdWhen(justNow, true)).toEqual(refused);
});

it("counts what the controller records as a success, even if a user changes the pod meanwhile (X3)", () => {
  const after = (succeeded: string[]): readonly string[] => {
    const history = new History(backOff);
    history.store(job());
    for (const name of ["s", "a"]) history.store(pod("Running", { name }), CONTROLLER);
    history.store(pod("Succeeded", { name: "s", status: failedAt(history.nowMs, 0) }), "kubelet");
    history.store(pod("Failed", { name: "a" }), "user");
    history.store(pod("Failed", { name: "s", status: failedAt(history.nowMs, 0) }), "user");
    record(history, ["a"], {}, succeeded);
    history.pass(1000);
    history.store(pod("Pending", { name: "b" }), CONTROLLER);
    return history.violations;
  };
  expect(after(["s"])).toEqual([]);
  expect(after([])).toHaveLength(1);
});

it("counts a failure as older than a success that was being deleted and whose end is unknown", () => {
  const after = (deleted: boolean): readonly string[] => {
    const history = new History(backOff);
    const metadata = deleted ? { deletionTimestamp: new Date(history.nowMs).toISOString() } : {};
    history.store(job());
    history.store(pod("Succeeded", { name: "s", status: failedAt(history.nowMs, 0), metadata }), "kubelet");
    history.pass(2000);
    history.store(pod("Running", { name: "a" }), CONTROLLER);
    history.store(pod("Failed", { name: "a", status: failedAt(history.nowMs) }), "kubelet");
    record(history, ["a"], {}, ["s"]);
    history.pass(2000);
    history.store(pod("Pending", { name: "b" }), CONTROLLER);
    return history.violations;
  };
  expect(after(true)).toEqual([]);
  expect(after(false)).toHaveLength(1);
});

it("accepts what follows a failure that was recorded by a write whose answer was lost", () => {
  const after = (code: number): readonly string[] => {
    const history = new History(backOff);
    history.store(job());
    fail(history, "a");
    const request = { component: CONTROLLER, verb: "update", resource: "jobs.batch", subresource: "status" };
    history.answer({ ...request, namespace: "default", name: "pi", code });
    history.pass(1000);
    history.store(pod("Pending", { name: "b" }), CONTROLLER);
    return history.violations;
  };
  expect(after(504)).toEqual([]);
  expect(after(200)).toHaveLength(1);
});

it("accepts what follows the end of a Job that counts what it still runs", () => {
  const history = new History(backOff);
  history.store(job());
  history.store(pod("Running"), CONTROLLER);
  const conditions = [condition("FailureTarget", "BackoffLimitExceeded")];
  history.store(job({ uncountedTerminatedPods: { failed: ["uid-of-a"] }, conditions }), CONTROLLER);
  history.pass(1000);
  history.store(pod("Pending", { name: "b" }), CONTROLLER);
  expect(history.violations).toEqual([]);
});

it("accepts what is short of it by rounding (X8), and what starts over after a success or a restart (X1)", () => {
  const history = new History(backOff);
  history.store(job());
  fail(history, "a");
  history.pass(9_100);
  fail(history, "b");
  expect(history.violations).toEqual([]);

  history.pass(1000);
  history.store(pod("Succeeded", { name: "s", status: failedAt(history.nowMs, 0) }), "kubelet");
  record(history, [], {}, ["s"]);
  history.pass(1000);
  history.store(pod("Pending", { name: "c" }), CONTROLLER);
  expect(history.violations).toEqual([]);

  const restarted = new History(backOff);
  restarted.store(job());
  fail(restarted, "a");
  restarted.pass(1000);
  restarted.store(pod("Pending", { name: "b" }), { component: CONTROLLER, incarnation: 2 });
  expect(restarted.violations).toEqual([]);
});

it("accepts what is created in the same instant as the failure is recorded, as it was decided before", () => {
  const history = new History(backOff);
  history.store(job());
  fail(history, "a");
  history.store(pod("Pending", { name: "b" }), CONTROLLER);
  expect(history.violations).toEqual([]);
});

it("does not know where the row ends while a success is not recorded", () => {
  const history = new History(backOff);
  history.store(job());
  fail(history, "a");
  history.store(pod("Succeeded", { name: "s", status: failedAt(history.nowMs, 0) }), "kubelet");
  history.pass(1000);
  history.store(pod("Pending", { name: "b" }), CONTROLLER);
  expect(history.violations).toEqual([]);
});

it("refuses the replacement of a failure that the policy ignores as early", () => {
  const rules = [{ action: "Ignore", onExitCodes: { operator: "In", values: [1] } }];
  const spec = { podFailurePolicy: { rules } };
  const history = new History(backOff);
  history.store(job({}, spec));
  history.store(pod(), CONTROLLER);
  const failed = pod("Failed", { status: failedAt(history.nowMs) });
  history.store(failed, "kubelet");
  history.show(failed, { component: CONTROLLER });
  history.pass(1000);
  history.store(job({ active: 0 }, spec), CONTROLLER);
  history.store(pod("Failed", { status: failed.status!, tracked: false }), CONTROLLER);
  decide(history, 1);
  history.pass(1000);
  history.store(pod("Pending", { name: "b" }), CONTROLLER);
  expect(history.violations).toHaveLength(1);
});

it("accepts the replacement of a failure that the policy ignores, where the sync wrote no status, or had not seen it", () => {
  const rules = [{ action: "Ignore", onExitCodes: { operator: "In", values: [1] } }];
  const spec = { podFailurePolicy: { rules } };
  for (const [isShown, statusWrites, count] of [
    [true, 1, 1],
    [true, 0, 0],
    [false, 1, 0],
  ] as const) {
    const history = new History(backOff);
    history.store(job({}, spec));
    const failed = pod("Failed", { status: failedAt(history.nowMs) });
    history.store(failed, CONTROLLER);
    if (isShown) history.show(failed, { component: CONTROLLER });
    history.store(job({ active: 1 }, spec), CONTROLLER);
    decide(history, 1);
    history.store(pod("Failed", { status: failed.status!, tracked: false }), CONTROLLER);
    decide(history, statusWrites);
    history.pass(1000);
    history.store(pod("Pending", { name: "b" }), CONTROLLER);
    expect(history.violations).toHaveLength(count);
  }
});

it("accepts a failure that the policy ignores, and that was over when another pod succeeded", () => {
  const rules = [{ action: "Ignore", onExitCodes: { operator: "In", values: [1] } }];
  const spec = { podFailurePolicy: { rules } };
  const history = new History(backOff);
  history.store(job({}, spec));
  const failed = pod("Failed", { status: failedAt(history.nowMs) });
  history.store(failed, CONTROLLER);
  history.show(failed, { component: CONTROLLER });
  history.store(pod("Succeeded", { name: "s", status: failedAt(history.nowMs, 0) }), CONTROLLER);
  history.pass(1000);
  history.store(job({ uncountedTerminatedPods: { succeeded: ["uid-of-s"] } }, spec), CONTROLLER);
  history.store(pod("Failed", { status: failed.status!, tracked: false }), CONTROLLER);
  decide(history, 1);
  history.pass(1000);
  history.store(pod("Pending", { name: "b" }), CONTROLLER);
  expect(history.violations).toEqual([]);
});

it("goes by index where there is a limit for each", () => {
  const spec = { backoffLimitPerIndex: 3, completionMode: "Indexed", completions: 2 } as const;
  const history = new History(backOff);
  history.store(job({}, spec));
  history.store(pod("Failed", { index: 0, status: failedAt(history.nowMs) }), CONTROLLER);
  history.pass(5000);
  history.store(pod("Pending", { name: "b", index: 1 }), CONTROLLER);
  expect(history.violations).toEqual([]);
  const annotations = {
    "batch.kubernetes.io/job-completion-index": "0",
    "batch.kubernetes.io/job-index-failure-count": "1",
  };
  history.store(pod("Pending", { name: "c", metadata: { annotations } }), CONTROLLER);
  expect(history.violations).toEqual([
    "Job default/pi: gets Pod default/c 5 s after failure 1 in a row: that takes 10 s",
  ]);
});

it("says nothing where clocks may be wrong", () => {
  const history = new History(backOff, { events: [{ at: "1m", clockSkew: { controllerManager: "a", by: "1h" } }] });
  history.store(job());
  fail(history, "a");
  history.pass(1000);
  history.store(pod("Pending", { name: "b" }), CONTROLLER);
  expect(history.violations).toEqual([]);
});

it("refuses a pause that is longer than so many failures take", () => {
  const reported = (failuresAfterLastSuccess: number, retryAfterMs: number): readonly string[] => {
    const history = new History(backOff);
    history.store(job());
    for (let number = 0; number < 9; number++) history.store(pod("Failed", { name: `a${number}` }), CONTROLLER);
    judge(history, { backoff: { failuresAfterLastSuccess }, pods: { retryAfterMs } });
    return history.violations;
  };
  expect(reported(1, 10_000)).toEqual([]);
  expect(reported(2, 20_000)).toEqual([]);
  expect(reported(9, 600_000)).toEqual([]);
  expect(reported(1, 20_000)).toEqual(["Job default/pi: waits 20 s after failure 1 in a row: that takes 11 s at most"]);
  expect(reported(9, 640_000)).toHaveLength(1);
});

it("accepts that a failure was read before its containers had an end time", () => {
  const replaced = (reported: boolean): readonly string[] => {
    const history = new History(backOff);
    history.store(job({}, { completionMode: "Indexed", completions: 1, backoffLimitPerIndex: 2 }));
    const first = history.store(pod("Running", { index: 0 }), CONTROLLER);
    history.pass(12_000);
    const failed = history.store({ ...first, status: { phase: "Failed" } });
    history.pass(1_000);
    if (reported) history.store({ ...failed, status: { phase: "Failed", ...failedAt(history.nowMs) } }, "kubelet");
    const second = pod("Pending", { name: "b", index: 0 });
    Object.assign(second.metadata.annotations!, { "batch.kubernetes.io/job-index-failure-count": "1" });
    history.store(second, CONTROLLER);
    return history.violations;
  };
  expect([replaced(false), replaced(true)]).toEqual([[], []]);
});

it("refuses to count more failures than there are pods that have failed", () => {
  const counting = (
    failuresAfterLastSuccess: number,
    spec: Partial<JobSpec> = {},
    consistencyGate = true,
    plan: object = {},
  ): readonly string[] => {
    const history = new History(backOff, { controllers: { maxUncountedPods: 5, consistencyGate } });
    history.store(job({}, spec));
    for (const name of ["a", "b"]) history.store(pod("Failed", { name }), CONTROLLER);
    history.store(pod("Running", { name: "c" }), CONTROLLER);
    judge(history, { backoff: { failuresAfterLastSuccess }, ...plan });
    return history.violations;
  };
  expect(counting(3, {}, true, { end: { type: "SuccessCriteriaMet", recorded: true } })).toEqual([]);
  expect(counting(3)).toEqual(["Job default/pi: counts 3 failures in a row, and only 2 of its pods have failed"]);
  expect(counting(2)).toEqual([]);
  expect(counting(3, {}, false)).toEqual([]);
  expect(counting(3, { podFailurePolicy: { rules: [] } })).toEqual([]);
  expect(counting(3, { completionMode: "Indexed", backoffLimitPerIndex: 1 })).toEqual([]);
});

it("refuses a pause for an index that is longer than its failures take", () => {
  const reported = (retryAfterMs: number, parallelism: number, others: readonly Partial<JobSpec>[] = []): string[] => {
    const history = new History(backOff);
    const spec = { completionMode: "Indexed", backoffLimitPerIndex: 3, completions: 2, parallelism } as const;
    const owner = history.store(job({}, spec));
    for (const [number, other] of others.entries())
      history.store({ ...job({}, { ...spec, ...other }), metadata: { ...owner.metadata, generation: number + 2 } });
    history.pass(10_000);
    const failed = [0, 1].map((index) => {
      const status = failedAt(history.nowMs - 4_000);
      const failure = pod("Failed", { name: `a${index}`, index, status });
      const count = { "batch.kubernetes.io/job-index-failure-count": `${1 - index}` };
      return {
        ...failure,
        metadata: { ...failure.metadata, annotations: { ...failure.metadata.annotations, ...count } },
      };
    });
    const observed = { active: [], terminating: [], tracked: failed, newlySucceeded: [], newlyFailed: [] };
    judge(history, { observed, backoff: { failuresAfterLastSuccess: 0 }, succeeded: 0, pods: { retryAfterMs } });
    return history.violations;
  };
  expect(reported(16_000, 1)).toEqual([]);
  expect(reported(18_000, 1)).toEqual(["Job default/pi: waits 18 s, and an index is to be tried again in 17 s"]);
  // The second index has failed once, and is retried before the first.
  expect(reported(6_000, 2)).toEqual([]);
  expect(reported(16_000, 2)).toHaveLength(1);
  expect(reported(16_000, 2, [{ parallelism: 1 }])).toEqual([]);
});

it("refuses to count failures that are older than a success", () => {
  const reported = (failuresAfterLastSuccess: number): readonly string[] => {
    const history = new History(backOff);
    history.store(job());
    const observed = { tracked: [], newlySucceeded: [pod("Succeeded")], newlyFailed: [pod("Failed", { name: "b" })] };
    for (const name of ["b", "c"]) history.store(pod("Failed", { name }), CONTROLLER);
    judge(history, { observed, backoff: { failuresAfterLastSuccess } });
    return history.violations;
  };
  expect(reported(1)).toEqual([]);
  expect(reported(2)).toEqual([
    "Job default/pi: counts 2 failures in a row, though it sees a success, and 1 of them after it",
  ]);
});

it("reports a row that a success does not reset, or that lacks the failures after it", () => {
  const reported = (failuresAfterLastSuccess: number, succeeded: readonly number[], deleted = false): string[] => {
    const history = new History(backOff);
    history.store(job({}, { parallelism: 5, completions: 9 }));
    history.pass(10_000);
    const metadata = deleted ? { deletionTimestamp: new Date(history.nowMs).toISOString() } : {};
    const ended = (phase: string, name: string, seconds: number): Pod =>
      pod(phase, { name, status: failedAt(history.nowMs - 10_000 + seconds * 1000), metadata });
    const newlyFailed = [1, 5, 7].map((seconds) => ended("Failed", `f${seconds}`, seconds));
    for (const failed of newlyFailed) history.store(failed, CONTROLLER);
    const newlySucceeded = succeeded.map((seconds) => ended("Succeeded", `s${seconds}`, seconds));
    judge(history, {
      observed: { tracked: [], newlySucceeded, newlyFailed },
      backoff: { failuresAfterLastSuccess },
    });
    return history.violations;
  };
  expect(reported(2, [3])).toEqual([]);
  expect(reported(3, [3])).toEqual([
    "Job default/pi: counts 3 failures in a row, though it sees a success, and 2 of them after it",
  ]);
  expect(reported(1, [3])).toEqual([
    "Job default/pi: counts 1 failures in a row, and sees 2 that no success has followed",
  ]);
  expect([reported(1, [5, 2]), reported(0, [8])]).toEqual([[], []]);
  expect(reported(1, [8])).toHaveLength(1);
  expect(reported(2, [])).toHaveLength(1);
  // The end of deleted pods is uncertain.
  expect([reported(0, [3], true), reported(3, [3], true)]).toEqual([[], []]);
});

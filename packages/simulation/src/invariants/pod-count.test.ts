import {
  JOB_COMPLETION_INDEX_ANNOTATION,
  JOB_INDEX_FAILURE_COUNT_ANNOTATION,
  JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION,
  type Job,
  type JobSpec,
  type JobStatus,
  type Pod,
} from "@kubewright/api";
import { type JobDecision, planJob } from "@kubewright/job";
import { describe, expect, it } from "vitest";

import { History } from "../../test/history.js";
import { type PodParts, job, pod } from "../../test/objects.js";
import { podCountMatchesSpec } from "./pod-count.js";

const indexed = { completionMode: "Indexed", completions: 4, parallelism: 4 } as const;
const perIndex = { ...indexed, parallelism: 1, backoffLimitPerIndex: 1 } as const;

/** Returns the violations of the Job controller's plan with changes. */
function judge(
  pods: readonly Pod[],
  spec: Partial<JobSpec>,
  changed: object = {},
  { specs = [], max = 500 }: { readonly specs?: readonly Partial<JobSpec>[]; readonly max?: number } = {},
): readonly string[] {
  const history = new History(podCountMatchesSpec, { controllers: { maxPodsPerSync: max } });
  const owner: Job = job({}, spec);
  history.store(owner);
  for (const [number, other] of specs.entries())
    history.store({ ...job({}, other), metadata: { ...owner.metadata, generation: number + 2 } });
  const limits = { maxPodsPerSync: max, maxUncountedPods: 500, podBackoffBaseMs: 10_000, podBackoffMaxMs: 600_000 };
  const plan = planJob({
    job: { ...owner, spec: { ...owner.spec!, selector: {} } },
    pods,
    expectationsSatisfied: true,
    finalizersBeingRemoved: new Set(),
    backoff: { failuresAfterLastSuccess: 0 },
    nowMs: history.nowMs,
    limits,
  });
  const reported = { ...plan, pods: { ...plan.pods!, ...changed } };
  const decision = { key: "default/pi" as never, uid: "uid-of-pi", atMs: 0, action: plan.action, plan: reported };
  history.decide({ controller: "job-controller", decision: { ...decision, reasons: [], statusWrites: 1 } });
  return history.violations;
}

const running = (name: string, parts: PodParts = {}): Pod => pod("Running", { name, ...parts });
const three = ["a", "b", "c"].map((name) => running(name));

describe("S23 pod count matches the spec", () => {
  it("accepts what the controller decides", () => {
    expect(judge(three, { parallelism: 2, completions: 5 })).toEqual([]);
    expect(judge(three, { parallelism: 5, completions: 5 })).toEqual([]);
    expect(judge(three, { parallelism: 8, completions: 8 }, {}, { max: 2 })).toEqual([]);
    expect(judge(three, { suspend: true }, {}, { max: 2 })).toEqual([]);
    expect(judge([running("a", { index: 0 }), running("b", { index: 0 })], indexed)).toEqual([]);
    expect(judge([running("a", { index: 6 })], indexed)).toEqual([]);
    expect(judge([running("a", { index: 1 }), pod("Succeeded", { name: "b", index: 2 })], indexed)).toEqual([]);
    expect(judge([pod("Failed", { index: 0 })], perIndex)).toEqual([]);
  });

  it.each<[JobStatus, Partial<JobSpec>]>([
    [{ succeeded: 1, uncountedTerminatedPods: { succeeded: ["uid-of-x"] } }, { completions: 5 }],
    [{ completedIndexes: "0,2,7" }, indexed],
  ])("reports fewer successes than the status records: %j", (status, spec) => {
    const going = (succeeded: number): readonly string[] => {
      const history = new History(podCountMatchesSpec);
      history.store(job({}, { ...spec, suspend: true }));
      history.store(job(status, { ...spec, suspend: true }), "job-controller");
      const observed = { active: [], terminating: [], tracked: [] };
      const plan = { observed, succeeded, pods: { create: [], remove: [] } };
      const decision = { key: "default/pi", uid: "uid-of-pi", plan } as unknown as JobDecision;
      history.decide({ controller: "job-controller", decision });
      return history.violations;
    };
    expect(going(1)).toEqual(["Job default/pi: goes by 1 successes, and its status records 2"]);
    expect([going(2), going(3)]).toEqual([[], []]);
  });

  it("refuses to leave pods that are too many", () => {
    expect(judge(three, { suspend: true }, { remove: three.slice(1) })).toEqual([
      "Job default/pi: removes 2 of 3 active pods, and 3 are too many",
    ]);
    expect(judge(three, { parallelism: 1, completions: 5 }, { remove: [three[0]] })).toHaveLength(1);
    expect(judge([running("a", { index: 6 })], indexed, { remove: [] })).toHaveLength(1);
    expect(judge(three, { parallelism: 1 }, { remove: [three[0]] }, { max: 1 })).toEqual([]);
  });

  it("refuses to remove a pod that is missed more than one that stays", () => {
    const ready = running("r", {
      status: { conditions: [{ type: "Ready", status: "True" }] },
    });
    const pods = [...three, ready];
    expect(judge(pods, { parallelism: 3, completions: 5 }, { remove: [ready] })).toEqual([
      "Job default/pi: removes Pod default/r, and keeps Pod default/a, which is missed less",
    ]);
    expect(judge(pods, { parallelism: 3, completions: 5 }, { remove: [three[2]] })).toEqual([]);
  });

  it("refuses to create fewer than are missing, but for a back-off, or pods that have to end first", () => {
    expect(judge(three, { parallelism: 5, completions: 5 }, { create: [{}] })).toEqual([
      "Job default/pi: creates 1 pods beside 3, and 2 are missing",
    ]);
    expect(judge([running("a", { index: 1 })], indexed, { create: [{ index: 0 }] })).toHaveLength(1);
    expect(judge(three, { parallelism: 5, completions: 5 }, { create: [], retryAfterMs: 1 })).toEqual([]);
    const going = running("g", { metadata: { deletionTimestamp: "2026-03-02T10:00:30Z" } });
    expect(judge([going], { podReplacementPolicy: "Failed" }, { create: [] })).toEqual([]);
    expect(judge([going], {}, { create: [], retryAfterMs: undefined })).toHaveLength(1);
  });

  it("refuses to create a pod of an index that runs, has ended, or is not wanted", () => {
    const beside = (index: number, pods: readonly Pod[], spec: Partial<JobSpec> = indexed): readonly string[] =>
      judge(pods, spec, { create: [{ index }], retryAfterMs: 1 });
    expect(beside(0, [])).toEqual([]);
    expect(beside(4, [])).toEqual(["Job default/pi: creates a pod of index 4, and completions is 4"]);
    expect(beside(0, [running("a", { index: 0 })])).toEqual(["Job default/pi: creates a pod of index 0, which runs"]);
    expect(beside(0, [pod("Succeeded", { index: 0 })])).toHaveLength(1);
    expect(judge([], indexed, { create: [{ index: 0 }, { index: 0 }], retryAfterMs: 1 })).toEqual([
      "Job default/pi: creates two pods of one index",
    ]);
  });

  it("refuses to try an index again that has failed for good", () => {
    const failed = (count: number, exitCode = 1): Pod => {
      const failure = pod("Failed", { index: 0 });
      Object.assign(failure.metadata.annotations!, { [JOB_INDEX_FAILURE_COUNT_ANNOTATION]: `${count}` });
      const state = { terminated: { exitCode } };
      failure.status!.containerStatuses = [
        { name: "main", image: "", imageID: "", ready: false, restartCount: 0, state },
      ];
      return failure;
    };
    const again = { create: [{ index: 0 }], retryAfterMs: 1 };
    expect(judge([failed(0)], perIndex, again)).toEqual([]);
    expect(judge([failed(1)], perIndex, again)).toEqual([
      "Job default/pi: creates a pod of index 0, which has failed for good",
    ]);
    const rules = (action: string): Partial<JobSpec> => ({
      ...perIndex,
      podFailurePolicy: { rules: [{ action, onExitCodes: { operator: "In", values: [42] } }] },
    });
    expect(judge([failed(0, 42)], rules("FailIndex"), again)).toHaveLength(1);
    expect(judge([failed(1, 42)], rules("Ignore"), again)).toEqual([]);
  });

  it("refuses a pod of an index that does not carry on how often it has failed", () => {
    const failed = (
      name: string,
      counted: number,
      ignored: number,
      { exitCode = 1, second = 0, gone = false } = {},
    ): Pod => {
      const metadata = gone ? { deletionTimestamp: "2026-03-02T10:00:30Z" } : {};
      const failure = pod("Failed", { name, index: 0, metadata });
      failure.metadata.annotations = {
        [JOB_COMPLETION_INDEX_ANNOTATION]: "0",
        [JOB_INDEX_FAILURE_COUNT_ANNOTATION]: `${counted}`,
        [JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION]: `${ignored}`,
      };
      const state = { terminated: { exitCode, finishedAt: `2026-03-02T10:00:0${second}Z` } };
      failure.status!.containerStatuses = [
        { name: "main", image: "", imageID: "", ready: false, restartCount: 0, state },
      ];
      return failure;
    };
    const rules = [{ action: "Ignore", onExitCodes: { operator: "In", values: [42] } }];
    const spec = { ...perIndex, backoffLimitPerIndex: 5, podFailurePolicy: { rules } };
    const carrying = (pods: readonly Pod[], failures: number, ignored: number): readonly string[] =>
      judge(pods, spec, { create: [{ index: 0, failureCounts: { failures, ignored } }], retryAfterMs: 1 });
    expect([carrying([], 0, 0), carrying([failed("a", 1, 2)], 2, 2)]).toEqual([[], []]);
    expect(carrying([failed("a", 1, 2, { exitCode: 42 })], 1, 3)).toEqual([]);
    expect(carrying([], 1, 0)).toHaveLength(1);
    expect(carrying([failed("a", 1, 2)], 0, 0)).toEqual([
      "Job default/pi: creates a pod of index 0, with 0 failures and 0 ignored ones before it, which no failed pod of it records",
    ]);
    expect(carrying([failed("a", 1, 2, { exitCode: 42 })], 0, 3)).toHaveLength(1);
    const two = [failed("a", 0, 0, { second: 1 }), failed("b", 1, 0, { second: 2 })];
    expect([carrying(two, 2, 0), carrying(two, 1, 0).length]).toEqual([[], 1]);
    const unclear = [failed("a", 0, 0, { second: 3 }), failed("b", 1, 0, { second: 2 })];
    expect([carrying(unclear, 2, 0), carrying(unclear, 1, 0)]).toEqual([[], []]);
    const deleted = [failed("a", 0, 0, { second: 1, gone: true }), failed("b", 1, 0, { second: 2 })];
    expect([carrying(deleted, 2, 0), carrying(deleted, 1, 0)]).toEqual([[], []]);
  });

  it("accepts what is right for a spec that was there before", () => {
    expect(judge(three, { parallelism: 3, completions: 5 }, {}, { specs: [{ parallelism: 1 }] })).toEqual([]);
    expect(judge(three, { parallelism: 2, completions: 5 }, { remove: [] }, { specs: [{ parallelism: 1 }] })).toEqual([
      "Job default/pi: removes 0 of 3 active pods, and 2 are too many",
    ]);
  });

  it("goes by the spec that the sync has written its status for", () => {
    const judged = (sentMs: number): readonly string[] => {
      const history = new History(podCountMatchesSpec);
      const reported = (plan: object): void => {
        const observed = { active: three, tracked: three, terminating: [] };
        const decision = { key: "default/pi", uid: "uid-of-pi", plan: { observed, succeeded: 0, ...plan } };
        history.decide({ controller: "job-controller", decision: decision as never });
      };
      history.store(job({}, { parallelism: 3, completions: 5 }));
      const suspended = job({ active: 2 }, { parallelism: 3, completions: 5, suspend: true });
      const stored = { ...suspended, metadata: { ...suspended.metadata, generation: 2 } };
      history.store(stored);
      reported({});
      history.store(
        { ...stored, status: { active: 1 } },
        { component: "job-controller", sentMs: history.nowMs + sentMs },
      );
      reported({ pods: { create: [], remove: three.slice(1) } });
      return history.violations;
    };
    expect(judged(0)).toEqual(["Job default/pi: removes 2 of 3 active pods, and 3 are too many"]);
    // An earlier sync has sent it.
    expect(judged(-1)).toEqual([]);
  });
});

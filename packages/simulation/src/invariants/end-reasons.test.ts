import type { JobSpec, PodStatus } from "@kubewright/api";
import { expect, it } from "vitest";

import { History } from "../../test/history.js";
import { type PodParts, condition, job, pod } from "../../test/objects.js";
import { terminationReasonsAreTrue } from "./end-reasons.js";

const indexed = { completionMode: "Indexed", completions: 2, parallelism: 2, backoffLimitPerIndex: 0 } as const;
const exited = (exitCode: number): PodStatus => ({
  containerStatuses: [
    { name: "main", image: "", imageID: "", ready: false, restartCount: 0, state: { terminated: { exitCode } } },
  ],
});
const running: PodStatus = {
  containerStatuses: [{ name: "main", image: "", imageID: "", ready: true, restartCount: 0, state: { running: {} } }],
};
const restarted: PodStatus = {
  containerStatuses: [{ name: "main", image: "", imageID: "", ready: true, restartCount: 2 }],
};
const failJob = {
  podFailurePolicy: {
    rules: [{ action: "FailJob", onExitCodes: { operator: "NotIn", values: [0] } }],
  },
};
const onFailure = { template: { spec: { containers: [], restartPolicy: "OnFailure" } } };

interface Case {
  readonly spec?: Partial<JobSpec>;
  readonly pods?: readonly [string, PodParts?][];
  readonly end: [string, string];
  readonly failedIndexes?: string;
  readonly completedIndexes?: string;
  readonly wrong?: string;
}

const CASES: readonly Case[] = [
  {
    end: ["FailureTarget", "BackoffLimitExceeded"],
    spec: { backoffLimit: 1 },
    pods: [["Failed"]],
    wrong: "1 pods have failed, and backoffLimit is 1",
  },
  { end: ["FailureTarget", "BackoffLimitExceeded"], spec: { backoffLimit: 0 }, pods: [["Failed"]] },
  {
    end: ["FailureTarget", "BackoffLimitExceeded"],
    spec: { ...onFailure, backoffLimit: 0 },
    pods: [["Running"]],
    wrong: "0 pods have failed and 0 containers started again, and backoffLimit is 0",
  },
  {
    end: ["FailureTarget", "BackoffLimitExceeded"],
    spec: { ...onFailure, backoffLimit: 2 },
    pods: [["Running", { status: restarted }]],
  },
  { end: ["FailureTarget", "DeadlineExceeded"], spec: {}, wrong: "it has no activeDeadlineSeconds" },
  {
    end: ["FailureTarget", "DeadlineExceeded"],
    spec: { activeDeadlineSeconds: 60 },
    wrong: "it is active for 30 s, and may be for 60",
  },
  { end: ["FailureTarget", "DeadlineExceeded"], spec: { activeDeadlineSeconds: 30 } },
  {
    end: ["FailureTarget", "DeadlineExceeded"],
    spec: { activeDeadlineSeconds: 30, suspend: true },
    wrong: "it is suspended",
  },
  { end: ["FailureTarget", "PodFailurePolicy"], spec: failJob, pods: [["Failed", { status: exited(42) }]] },
  {
    end: ["FailureTarget", "PodFailurePolicy"],
    spec: failJob,
    pods: [["Failed", { status: running }]],
    wrong: "no failed pod matches a rule with FailJob",
  },
  {
    end: ["FailureTarget", "PodFailurePolicy"],
    spec: failJob,
    pods: [["Failed", { status: exited(0) }]],
    wrong: "no failed pod matches a rule with FailJob",
  },
  {
    end: ["FailureTarget", "MaxFailedIndexesExceeded"],
    spec: { ...indexed, maxFailedIndexes: 0 },
    pods: [["Failed", { index: 1 }]],
  },
  {
    end: ["FailureTarget", "MaxFailedIndexesExceeded"],
    spec: { ...indexed, maxFailedIndexes: 1 },
    pods: [["Failed", { index: 1 }]],
    wrong: "1 indexes have failed, and maxFailedIndexes is 1",
  },
  {
    end: ["FailureTarget", "FailedIndexes"],
    spec: indexed,
    pods: [["Failed", { index: 1 }]],
    failedIndexes: "1",
    completedIndexes: "0",
  },
  {
    end: ["FailureTarget", "FailedIndexes"],
    spec: indexed,
    pods: [["Failed", { index: 1 }]],
    failedIndexes: "1",
    wrong: "only 1 of 2 indexes have ended",
  },
  { end: ["FailureTarget", "FailedIndexes"], spec: indexed, failedIndexes: "0-1", wrong: "no index has failed" },
  {
    end: ["SuccessCriteriaMet", "CompletionsReached"],
    spec: { completions: 2 },
    pods: [["Succeeded"]],
    wrong: "1 pods have succeeded of 2",
  },
  { end: ["SuccessCriteriaMet", "CompletionsReached"], spec: { completions: 1 }, pods: [["Succeeded"]] },
  {
    end: ["SuccessCriteriaMet", "CompletionsReached"],
    spec: { completions: null as never },
    pods: [["Running"]],
    wrong: "no pod has succeeded",
  },
  { end: ["SuccessCriteriaMet", "CompletionsReached"], spec: { completions: null as never }, pods: [["Succeeded"]] },
  {
    end: ["SuccessCriteriaMet", "CompletionsReached"],
    spec: indexed,
    pods: [
      ["Succeeded", { index: 1 }],
      ["Succeeded", { name: "b", index: 1 }],
    ],
    wrong: "no pod of index 0 has succeeded",
  },
  {
    end: ["SuccessCriteriaMet", "SuccessPolicy"],
    spec: { ...indexed, successPolicy: { rules: [{ succeededIndexes: "1" }] } },
    pods: [["Succeeded", { index: 1 }]],
  },
  {
    end: ["SuccessCriteriaMet", "SuccessPolicy"],
    spec: { ...indexed, successPolicy: { rules: [{ succeededIndexes: "0" }] } },
    pods: [["Succeeded", { index: 1 }]],
    wrong: "the indexes that have succeeded meet no rule of successPolicy",
  },
  {
    end: ["SuccessCriteriaMet", "SuccessPolicy"],
    spec: { ...indexed, successPolicy: { rules: [{ succeededCount: 2 }] } },
    pods: [["Succeeded", { index: 1 }]],
    wrong: "the indexes that have succeeded meet no rule of successPolicy",
  },
  { end: ["FailureTarget", "Whim"], wrong: "no Job ends for that" },
];

it.each(CASES)("judges %o", ({ spec = {}, pods = [], end: [type, reason], failedIndexes, completedIndexes, wrong }) => {
  const history = new History(terminationReasonsAreTrue);
  const started = { startTime: new Date(history.nowMs).toISOString() };
  history.store(job(started, spec));
  for (const [phase, parts] of pods) history.store(pod(phase, parts), "job-controller");
  history.pass(30_000);
  const indexes = { ...(failedIndexes && { failedIndexes }), ...(completedIndexes && { completedIndexes }) };
  history.store(job({ ...started, ...indexes, conditions: [condition(type, reason)] }, spec), "job-controller");
  expect(history.violations).toEqual(wrong === undefined ? [] : [`Job default/pi: ends with ${reason}, but ${wrong}`]);
});

it("counts a pod as failed that was deleted when it ran, also if it succeeds then", () => {
  for (const podReplacementPolicy of ["TerminatingOrFailed", "Failed"] as const) {
    const history = new History(terminationReasonsAreTrue);
    const spec = { backoffLimit: 0, podReplacementPolicy };
    history.store(job({}, spec));
    history.store(pod("Running"), "job-controller");
    history.store(pod("Running", { metadata: { deletionTimestamp: "2026-03-02T10:00:00Z" } }), "user");
    history.store(pod("Succeeded", { metadata: { deletionTimestamp: "2026-03-02T10:00:00Z" } }), "kubelet");
    history.store(job({ conditions: [condition("FailureTarget", "BackoffLimitExceeded")] }, spec), "job-controller");
    expect(history.violations).toHaveLength(podReplacementPolicy === "Failed" ? 1 : 0);
  }
});

it("judges no deadline by a clock that may be wrong", () => {
  const history = new History(terminationReasonsAreTrue, { events: [{ at: "1m", clockJump: "1h" }] });
  const started = { startTime: new Date(history.nowMs).toISOString() };
  history.store(job(started, { activeDeadlineSeconds: 60 }));
  const ended = { ...started, conditions: [condition("FailureTarget", "DeadlineExceeded")] };
  history.store(job(ended, { activeDeadlineSeconds: 60 }), "job-controller");
  expect(history.violations).toEqual([]);
});

it("reports no Job whose pods were externally modified (X2)", () => {
  const history = new History(terminationReasonsAreTrue);
  history.store(job({}, indexed));
  history.store(pod("Running", { index: 0 }), "job-controller");
  history.store(pod("Running", { index: 1 }), "user");
  const conditions = [condition("SuccessCriteriaMet", "CompletionsReached")];
  history.store(job({ conditions }, indexed), "job-controller");
  expect(history.violations).toEqual([]);
});

it.each<[string, Partial<JobSpec>, readonly [string, PodParts?][], string?]>([
  [
    "fewer have failed than its limit",
    { backoffLimitPerIndex: 1 },
    [["Failed"]],
    "gives up index 0, of which 1 pods have failed, and backoffLimitPerIndex is 1",
  ],
  [
    "the policy ignores one of them",
    {
      backoffLimitPerIndex: 1,
      podFailurePolicy: { rules: [{ action: "Ignore", onExitCodes: { operator: "In", values: [42] } }] },
    },
    [["Failed"], ["Failed", { name: "b", status: exited(42) }]],
    "gives up index 0, of which 1 pods have failed, and backoffLimitPerIndex is 1",
  ],
  ["as many have failed", { backoffLimitPerIndex: 1 }, [["Failed"], ["Failed", { name: "b" }]]],
  [
    "the policy fails it for one",
    {
      backoffLimitPerIndex: 1,
      podFailurePolicy: { rules: [{ action: "FailIndex", onExitCodes: { operator: "In", values: [42] } }] },
    },
    [["Failed", { status: exited(42) }]],
  ],
])("judges an index that is given up where %s", (_what, spec, pods, wrong) => {
  const history = new History(terminationReasonsAreTrue);
  const all = { ...indexed, ...spec };
  history.store(job({}, all));
  for (const [phase, parts] of pods) history.store(pod(phase, { index: 0, ...parts }), "job-controller");
  history.store(job({ failedIndexes: "0" }, all), "job-controller");
  history.store(job({ failedIndexes: "0", active: 1 }, all), "job-controller");
  expect(history.violations).toEqual(wrong === undefined ? [] : [`Job default/pi: ${wrong}`]);
});

it("judges no index that is given up of a Job with a pod that it has not made", () => {
  const history = new History(terminationReasonsAreTrue);
  const spec = { ...indexed, backoffLimitPerIndex: 1 };
  history.store(job({}, spec));
  history.store(pod("Failed", { index: 0 }), "user");
  history.store(job({ failedIndexes: "0" }, spec), "job-controller");
  expect(history.violations).toEqual([]);
});

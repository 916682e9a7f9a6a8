import { type Job, newestBehaviours } from "@kubewright/api";
import { expect, test } from "vitest";

import { create, updateStatus } from "../../../test/strategy-calls.js";
import { jobStrategy as strategyOf } from "./strategy.js";

const jobStrategy = strategyOf(newestBehaviours);

type Status = NonNullable<Job["status"]>;

const START = "2026-01-01T00:00:00Z";
const END = "2026-01-01T00:01:00Z";
const podSpec = { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] };
const indexed = { completionMode: "Indexed", completions: 5, parallelism: 2 };

function is(...types: string[]): Status["conditions"] {
  return types.map((type) => ({ type, status: "True" }));
}

function write(spec: object, before: Status, after: Status): string {
  const stored = create(jobStrategy, {
    metadata: { name: "j" },
    spec: { template: { spec: podSpec }, ...spec },
  }).object;
  return updateStatus(jobStrategy, { ...stored, status: before }, (job) => (job.status = after)).message;
}

const started: Status = { startTime: START };
const complete: Status = {
  startTime: START,
  completionTime: END,
  succeeded: 1,
  conditions: is("SuccessCriteriaMet", "Complete")!,
};
const failed: Status = { startTime: START, failed: 3, conditions: is("FailureTarget", "Failed")! };
const bad = (field: string, detail: string): string => `status.${field}: Invalid value: ${detail}`;

test.each<[string, object, Status, Status, string]>([
  ["a good end", {}, started, complete, ""],
  ["a good failure", {}, started, failed, ""],
  [
    "Complete without SuccessCriteriaMet",
    {},
    started,
    { ...complete, conditions: is("Complete")! },
    bad("conditions", "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"),
  ],
  [
    "Complete without a time",
    {},
    started,
    { startTime: START, conditions: complete.conditions! },
    "status.completionTime: Required value: completionTime is required for Complete jobs",
  ],
  [
    "Complete without a start",
    {},
    {},
    { completionTime: END, conditions: complete.conditions! },
    "status.startTime: Required value: startTime is required for finished job",
  ],
  [
    "Complete without a start, of a Job that never starts",
    { suspend: true, completions: 0 },
    {},
    { completionTime: END, conditions: complete.conditions! },
    "",
  ],
  [
    "a completion time without Complete",
    {},
    started,
    { ...started, completionTime: END },
    bad("completionTime", `"${END}": cannot set completionTime when there is no Complete=True condition`),
  ],
  [
    "Failed without FailureTarget",
    {},
    started,
    { ...started, conditions: is("Failed")! },
    bad("conditions", "cannot set Failed=True condition without the FailureTarget=true condition"),
  ],
  [
    "both ends",
    {},
    started,
    { ...complete, conditions: is("SuccessCriteriaMet", "Complete", "FailureTarget", "Failed")! },
    `[${bad("conditions", "cannot set Complete=True and Failed=true conditions")}, ${bad("conditions", "cannot set Complete=True and FailureTarget=true conditions")}, ${bad("conditions", "cannot set SuccessCriteriaMet=True and Failed=true conditions")}, ${bad("conditions", "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")}]`,
  ],
  [
    "both targets",
    {},
    started,
    { ...started, conditions: is("SuccessCriteriaMet", "FailureTarget")! },
    bad("conditions", "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"),
  ],
  [
    "an end with active pods",
    {},
    started,
    { ...complete, active: 1 },
    bad("active", "1: active>0 is invalid for finished job"),
  ],
  [
    "more ready than active",
    {},
    started,
    { ...started, ready: 1 },
    bad("ready", "1: cannot set more ready pods than active"),
  ],
  [
    "an end with terminating pods",
    {},
    started,
    { ...failed, terminating: 1 },
    bad("terminating", "1: terminating>0 is invalid for finished job"),
  ],
  [
    "an end with uncounted pods",
    {},
    started,
    { ...complete, uncountedTerminatedPods: { succeeded: ["a"] } },
    bad("uncountedTerminatedPods", '{"Succeeded":["a"],"Failed":null}: must be empty for finished job'),
  ],
  [
    "Failed taken back",
    {},
    failed,
    { ...failed, conditions: is("FailureTarget")! },
    bad("conditions", "cannot disable the terminal Failed=True condition"),
  ],
  [
    "everything taken back",
    {},
    complete,
    { ...complete, conditions: [] },
    `[${bad("completionTime", `"${END}": cannot set completionTime when there is no Complete=True condition`)}, ${bad("conditions", "cannot disable the terminal Complete=True condition")}, ${bad("conditions", "cannot disable the SuccessCriteriaMet=True condition")}]`,
  ],
  [
    "fewer failures",
    {},
    { ...started, failed: 3 },
    { ...started, failed: 2 },
    bad("failed", "2: cannot decrease the failed counter"),
  ],
  [
    "fewer successes",
    {},
    { ...started, succeeded: 3 },
    { ...started, succeeded: 2 },
    bad("succeeded", "2: cannot decrease the succeeded counter"),
  ],
  [
    "fewer successes of an elastic Job",
    { ...indexed, parallelism: 5 },
    { ...started, succeeded: 3 },
    { ...started, succeeded: 2 },
    "",
  ],
  [
    "another start",
    {},
    started,
    { startTime: END },
    bad("startTime", `"${END}": field is immutable for unsuspended job once set`),
  ],
  ["no start any more", {}, started, {}, bad("startTime", "null: field is immutable for unsuspended job once set")],
  ["another start while suspended", { suspend: true }, started, {}, ""],
  [
    "another start on resuming",
    {},
    { ...started, conditions: is("Suspended")! },
    { startTime: END, conditions: [{ type: "Suspended", status: "False" }] },
    "",
  ],
  [
    "an end before the start",
    {},
    started,
    { ...complete, completionTime: "2025-12-31T23:59:59Z" },
    bad("completionTime", '"2025-12-31T23:59:59Z": must be equal to or after `startTime`'),
  ],
  [
    "another end",
    {},
    complete,
    { ...complete, completionTime: "2026-01-01T00:02:00Z" },
    bad("completionTime", '"2026-01-01T00:02:00Z": field is immutable'),
  ],
  ["indexes", indexed, started, { ...started, completedIndexes: "0,2-3" }, ""],
  [
    "malformed indexes",
    indexed,
    started,
    { ...started, completedIndexes: "3,1" },
    bad("completedIndexes", '"3,1": error parsing completedIndexes: non-increasing order, previous: 3, current: 1'),
  ],
  [
    "indexes of a Job without",
    {},
    started,
    { ...started, completedIndexes: "0" },
    bad("completedIndexes", '"0": cannot set non-empty completedIndexes when non-indexed completion mode'),
  ],
  [
    "failed indexes without a limit per index",
    indexed,
    started,
    { ...started, failedIndexes: "1" },
    bad("failedIndexes", '"1": cannot set non-null failedIndexes when backoffLimitPerIndex is null'),
  ],
  [
    "indexes that both failed and completed",
    { ...indexed, backoffLimitPerIndex: 1 },
    started,
    { ...started, completedIndexes: "0-2", failedIndexes: "2" },
    bad("failedIndexes", '"2": failedIndexes and completedIndexes overlap at index: 2'),
  ],
  [
    "a pod counted as both",
    {},
    started,
    { ...started, uncountedTerminatedPods: { succeeded: ["a"], failed: ["a", ""] } },
    `[status.uncountedTerminatedPods.failed[0]: Duplicate value: "a", ${bad("uncountedTerminatedPods.failed[1]", '"": must not be empty')}]`,
  ],
  [
    "negative counters",
    {},
    started,
    { ...started, active: -1, ready: 0 },
    `[${bad("active", "-1: must be greater than or equal to 0")}, ${bad("ready", "0: cannot set more ready pods than active")}]`,
  ],
])("%s", (_, spec, before, after, message) => {
  expect(write(spec, before, after)).toBe(message);
});

test("an invalid stored Job can be updated when the invalid parts do not change", () => {
  const broken: Status = { ...complete, active: 1 };
  expect(write({}, broken, { ...broken, ready: 1 })).toBe("");
});

test("a status update keeps the spec and may change metadata", () => {
  const stored = create(jobStrategy, { metadata: { name: "j" }, spec: { template: { spec: podSpec } } }).object;
  const { object } = updateStatus(jobStrategy, stored, (job) => {
    job.spec!.parallelism = 9;
    job.metadata.annotations = { a: "b" };
  });
  expect(object.spec?.parallelism).toBe(1);
  expect(object.metadata.annotations).toEqual({ a: "b" });
});

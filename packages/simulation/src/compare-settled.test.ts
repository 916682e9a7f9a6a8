import type { JobSpec, UnstructuredObject } from "@kubewright/api";
import { describe, expect, it } from "vitest";

import { job } from "../test/objects.js";
import { compareSettled, mayDiffer } from "./compare-settled.js";
import type { FaultPlan } from "./fault-plan.js";
import type { SettledObject } from "./outcome.js";
import type { ScenarioEventEntry } from "./faults/registry.js";

const complete: SettledObject = { end: "Complete", reason: "CompletionsReached", succeeded: 1, failed: 0, active: 0 };
const failed: SettledObject = { end: "Failed", reason: "BackoffLimitExceeded", succeeded: 0, failed: 2, active: 0 };

function compare(
  expected: SettledObject,
  actual: SettledObject,
  {
    scenarioEvent,
    spec = {},
    consistencyGate = true,
  }: {
    scenarioEvent?: Partial<ScenarioEventEntry>;
    spec?: Partial<JobSpec>;
    consistencyGate?: boolean;
  } = {},
): string[] {
  const plan: FaultPlan = {
    apiVersion: "sim.kubewright.dev/v1",
    kind: "Scenario",
    seed: 1,
    start: "2026-03-02T10:00:00Z",
    for: "10m",
    controllers: { consistencyGate },
    manifests: [job({}, spec) as unknown as UnstructuredObject],
    events: scenarioEvent === undefined ? [] : [{ at: "1m", ...scenarioEvent }],
  };
  const subject = "Job default/pi";
  const messages = compareSettled({ [subject]: expected }, { [subject]: actual }, plan).map(({ message }) => message);
  // `mayDiffer` must be true for every run with a reported difference.
  expect(messages.length > 0 && !mayDiffer({ [subject]: actual }, plan)).toBe(false);
  return messages;
}

describe("L1 Jobs end as without faults", () => {
  it("accepts what is equal, and says nothing of Jobs that only one run has", () => {
    expect(compare(complete, complete)).toEqual([]);
    expect(compare(failed, failed)).toEqual([]);
  });

  it.each([
    [
      "does not end, and is Complete (CompletionsReached) without faults",
      complete,
      { ...complete, end: "", reason: "" },
    ],
    ["end is Failed, and Complete without faults", complete, { ...complete, end: "Failed" }],
    ["succeeded is 2, and 1 without faults", complete, { ...complete, succeeded: 2 }],
    ["failed is 3, and 2 without faults", failed, { ...failed, failed: 3 }],
    ["completedIndexes is 0, and absent without faults", complete, { ...complete, completedIndexes: "0" }],
    ["failedIndexes is 1, and 0 without faults", { ...failed, failedIndexes: "0" }, { ...failed, failedIndexes: "1" }],
    ["is Complete with 0 of 1 successes", { ...complete, succeeded: 0 }, { ...complete, succeeded: 0 }],
  ])("says that it %s", (message, expected, actual) => {
    expect(compare(expected, actual)).toEqual([message]);
  });

  it.each<[string, Partial<ScenarioEventEntry>]>([
    ["a user patches it", { patch: { kind: "Job", name: "pi", with: {} } }],
    ["a user suspends all Jobs", { suspend: { kind: "Job" } }],
    ["its namespace is deleted", { delete: { kind: "Namespace", name: "default" } }],
    ["something is applied", { apply: "x.yaml" }],
    ["a node is lost", { nodeLost: "node-1" }],
    ["its pods are evicted", { podEvicted: { job: "pi" } }],
    ["pods are deleted", { delete: { kind: "Pod" } }],
  ])("leaves open how it ends when %s", (_what, scenarioEvent) => {
    expect(compare(complete, failed, { scenarioEvent })).toEqual([]);
  });

  it("never leaves open that it ends, unless a user has a hand in it", () => {
    const unfinished = { ...complete, end: "", reason: "" };
    expect(compare(complete, unfinished, { scenarioEvent: { nodeLost: "node-1" } })).toHaveLength(1);
    expect(compare(complete, unfinished, { scenarioEvent: { delete: { kind: "Job", name: "other" } } })).toHaveLength(
      1,
    );
    expect(compare(complete, unfinished, { scenarioEvent: { delete: { kind: "Job", name: "pi" } } })).toEqual([]);
  });

  it("does not ask for an end where pods may have come and gone unseen, and the Job does not wait for its own writes", () => {
    const unfinished = { ...complete, end: "", reason: "" };
    const scenarioEvent = { watchCut: { controller: "job-controller", kinds: ["Pod"] } };
    expect(compare(complete, unfinished, { scenarioEvent, consistencyGate: false })).toEqual([]);
    expect(compare(complete, unfinished, { scenarioEvent })).toHaveLength(1);
    expect(compare(complete, unfinished, { consistencyGate: false })).toHaveLength(1);
  });

  it("leaves open whether it ends before the run does where a clock is wrong: back-off lasts as much longer", () => {
    const unfinished = { ...complete, end: "", reason: "" };
    expect(compare(complete, unfinished, { scenarioEvent: { clockJump: "-1h" } })).toEqual([]);
    expect(compare(complete, { ...complete, failed: 1 }, { scenarioEvent: { clockJump: "-1h" } })).toHaveLength(1);
  });

  it("permits an unfinished Job where the finalizers of ignored failures cannot be removed: each sync starts the back-off again", () => {
    const unfinished = { ...complete, end: "", reason: "" };
    const policy = (action: string): Partial<JobSpec> => ({
      podFailurePolicy: { rules: [{ action, onExitCodes: { operator: "In", values: [42] } }] },
    });
    const refused: Partial<ScenarioEventEntry> = { requestFails: { verbs: ["patch"], resources: ["pods"], with: 500 } };
    expect(compare(complete, unfinished, { scenarioEvent: refused, spec: policy("Ignore") })).toEqual([]);
    expect(compare(complete, unfinished, { scenarioEvent: refused, spec: policy("Count") })).toHaveLength(1);
    expect(compare(complete, unfinished, { scenarioEvent: refused })).toHaveLength(1);
    expect(compare(complete, unfinished, { spec: policy("Ignore") })).toHaveLength(1);
    expect(compare(complete, failed, { scenarioEvent: refused, spec: policy("Ignore") })).not.toEqual([]);
  });

  it("leaves open whether it ends where nodes are deleted that do not come again: there may be none for its pods", () => {
    const unfinished = { ...complete, end: "", reason: "" };
    const scenarioEvent = { delete: { kind: "Node", name: "node-1" } } as Partial<ScenarioEventEntry>;
    expect(compare(complete, unfinished, { scenarioEvent })).toEqual([]);
    expect(compare(complete, unfinished, { scenarioEvent: { nodeLost: "node-1" } })).toHaveLength(1);
  });

  it("leaves open how many succeed when answers are lost (X4), of work queues (X5), and after old lists (X7)", () => {
    const more = { ...complete, succeeded: 2 };
    expect(compare(complete, more, { scenarioEvent: { requestFails: { effect: "kept" } } })).toEqual([]);
    expect(compare(complete, more, { scenarioEvent: { requestFails: { with: 500 } } })).toHaveLength(1);
    expect(compare(complete, more, { scenarioEvent: { staleList: { by: "1m" } } })).toEqual([]);
    expect(compare(complete, more, { spec: { completions: null as never } })).toEqual([]);
  });

  it("leaves open how many succeed when who does not wait for its own writes is behind", () => {
    const behind: Partial<ScenarioEventEntry>[] = [{ watchCut: {} }, { requestFails: { with: 503, verbs: ["list"] } }];
    for (const scenarioEvent of behind) {
      const more = { ...complete, succeeded: 2 };
      expect(compare(complete, more, { scenarioEvent, consistencyGate: false })).toEqual([]);
      expect(compare(complete, more, { scenarioEvent })).toHaveLength(1);
    }
    expect(compare(complete, { ...complete, succeeded: 2 }, { consistencyGate: false })).toHaveLength(1);
  });

  it("permits uncounted successes that a user changes to failures (X3), and not those of pods that a node lost", () => {
    const short = { ...complete, succeeded: 0 };
    expect(compare(short, short, { scenarioEvent: { patch: { kind: "Pod", labels: {}, with: {} } } })).toEqual([]);
    expect(compare(short, short, { scenarioEvent: { nodeLost: "node-1" } })).toHaveLength(1);
  });

  it("leaves open what a deadline, restarts in place and several failing pods at a time make of it", () => {
    for (const spec of [
      { activeDeadlineSeconds: 60 },
      { template: { spec: { containers: [], restartPolicy: "OnFailure" } } },
      { parallelism: 2, completions: 1 },
    ])
      expect(compare(complete, failed, { spec })).toEqual([]);
  });
});

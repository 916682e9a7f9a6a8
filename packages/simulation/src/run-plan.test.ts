import type { UnstructuredObject } from "@kubewright/api";
import { expect, test } from "vitest";

import {
  type FaultPlan,
  type ScenarioEventEntry,
  type Invariant,
  type InvariantChecks,
  type RunRecord,
  runPlan,
} from "./index.js";

function job(name: string, spec: object = {}): UnstructuredObject {
  const template = {
    metadata: { annotations: { "sim.kubewright.dev/duration": "30s" } },
    spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] },
  };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { namespace: "default", name },
    spec: { template, ...spec },
  };
}

function planOf(events: readonly ScenarioEventEntry[] = [], more: Partial<FaultPlan> = {}): FaultPlan {
  return {
    apiVersion: "sim.kubewright.dev/v1",
    kind: "Scenario",
    seed: 1,
    start: "2026-01-01T00:00:00Z",
    for: "10m",
    manifests: [job("a", { parallelism: 2, completions: 3 })],
    events,
    ...more,
  };
}

test("a Job runs to its end, and everything is reported", async () => {
  const reported: RunRecord[] = [];
  const outcome = await runPlan(planOf(), { onRecord: (record) => reported.push(record), freeze: true });
  expect(outcome).toMatchObject({
    violations: [],
    settled: { "Job default/a": { end: "Complete", reason: "CompletionsReached", succeeded: 3, failed: 0 } },
    figures: { virtualMs: 600_000 },
  });
  expect(outcome.covered).toContain("job-controller pods_created");
  const created = reported.filter((record) => record.type === "change" && record.change.resource === "pods");
  expect(created[0]).toMatchObject({
    change: {
      type: "ADDED",
      request: { component: "job-controller", process: "controller-manager-1", incarnation: 1, verb: "create" },
    },
  });
});

test("equal plans have equal outcomes, independent of runs between them, and another seed has others", async () => {
  const plan = planOf([], { jitter: { requests: "50ms", events: "200ms" } });
  const first = await runPlan(plan);
  const other = await runPlan({ ...plan, seed: 2 });
  expect(await runPlan(plan)).toEqual(first);
  expect(other.hash).not.toBe(first.hash);
});

const broken = (): never => {
  throw new TypeError("the check is broken");
};

test.each<[string, InvariantChecks]>([
  ["a change", { onChange: broken }],
  ["an answer", { onAnswer: broken }],
  ["a decision", { onDecision: broken }],
  ["a cache's event", { onCacheEvent: broken }],
  ["a scenario event", { onScenarioEvent: broken }],
  ["a tick", { onTick: broken }],
  ["rest", { atRest: broken }],
])("a check of %s that throws fails the run with what it throws", async (_what, checks) => {
  const invariant: Invariant = { name: "broken", sentence: "", watch: () => checks };
  const plan = planOf([{ at: "+5s", suspend: { kind: "Job", name: "a" } }]);
  await expect(runPlan(plan, { invariants: [invariant] })).rejects.toThrow(new TypeError("the check is broken"));
});

test.each(["change", "answer", "decision", "cache", "scenarioEvent", "note"])(
  "a listener that throws at a record of type %s fails the run with its error",
  async (type) => {
    const plan = planOf([{ at: "+5s", suspend: { kind: "Job", name: "a" } }]);
    const onReported = (record: RunRecord): void => {
      if (record.type === type) broken();
    };
    await expect(runPlan(plan, { onRecord: onReported })).rejects.toThrow(new TypeError("the check is broken"));
  },
);

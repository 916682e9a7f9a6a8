import type { UnstructuredObject } from "@kubewright/api";
import { expect, test } from "vitest";

import {
  type FaultPlan,
  type HappeningEntry,
  type Invariant,
  type InvariantChecks,
  type ToldRecord,
  play,
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

function planOf(happenings: readonly HappeningEntry[] = [], more: Partial<FaultPlan> = {}): FaultPlan {
  return {
    apiVersion: "sim.kubewright.dev/v1",
    kind: "Scenario",
    seed: 1,
    start: "2026-01-01T00:00:00Z",
    for: "10m",
    manifests: [job("a", { parallelism: 2, completions: 3 })],
    happenings,
    ...more,
  };
}

test("a Job runs to its end, and all of it is told", async () => {
  const told: ToldRecord[] = [];
  const outcome = await play(planOf(), { onTold: (record) => told.push(record), freeze: true });
  expect(outcome).toMatchObject({
    violations: [],
    settled: { "Job default/a": { end: "Complete", reason: "CompletionsReached", succeeded: 3, failed: 0 } },
    figures: { virtualMs: 600_000 },
  });
  expect(outcome.reached).toContain("job-controller pods_created");
  const created = told.filter((record) => record.type === "change" && record.change.resource === "pods");
  expect(created[0]).toMatchObject({
    change: {
      type: "ADDED",
      request: { component: "job-controller", process: "controller-manager-1", incarnation: 1, verb: "create" },
    },
  });
});

test("equal plans have equal outcomes, whatever was played between them, and another seed has others", async () => {
  const plan = planOf([], { jitter: { requests: "50ms", events: "200ms" } });
  const first = await play(plan);
  const other = await play({ ...plan, seed: 2 });
  expect(await play(plan)).toEqual(first);
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
  ["a happening", { onHappening: broken }],
  ["a tick", { onTick: broken }],
  ["rest", { atRest: broken }],
])("a check of %s that throws fails the run with what it throws", async (_what, checks) => {
  const invariant: Invariant = { name: "broken", sentence: "", watch: () => checks };
  const plan = planOf([{ at: "+5s", suspend: { kind: "Job", name: "a" } }]);
  await expect(play(plan, { invariants: [invariant] })).rejects.toThrow(new TypeError("the check is broken"));
});

test.each(["change", "answer", "decision", "cache", "happening", "note"])(
  "a follower that throws at what it is told of type %s fails the run with what it throws",
  async (type) => {
    const plan = planOf([{ at: "+5s", suspend: { kind: "Job", name: "a" } }]);
    const onTold = (record: ToldRecord): void => {
      if (record.type === type) broken();
    };
    await expect(play(plan, { onTold })).rejects.toThrow(new TypeError("the check is broken"));
  },
);

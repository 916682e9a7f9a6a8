import type { UnstructuredObject } from "@kubewright/api";
import { expect, test } from "vitest";

import { type FaultPlan, type HappeningEntry, type ToldRecord, play } from "./index.js";

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

import { expect, test } from "vitest";

import type { FaultPlan } from "../fault-plan.js";
import { generatePlan } from "../generate/generate-plan.js";
import type { Outcome, SettledObject } from "../outcome.js";
import type { ScenarioEventEntry } from "../faults/registry.js";
import { runAndCompare, withoutFaults } from "./run-and-compare.js";

const complete: SettledObject = { end: "Complete", reason: "CompletionsReached", succeeded: 1, failed: 0, active: 0 };
const plan: FaultPlan = {
  apiVersion: "sim.kubewright.dev/v1",
  kind: "Scenario",
  seed: 1,
  start: "2026-01-01T00:00:00Z",
  for: "10m",
  manifests: [
    {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "pi", namespace: "default" },
      spec: { completions: 1, template: { spec: { restartPolicy: "Never", containers: [] } } },
    },
  ],
  events: [
    { at: "+1s", for: "5s", staleCache: { kind: "Pod", controller: "job-controller" } },
    { at: "+2s", delete: { kind: "Job", name: "other" } },
  ],
};

/** Runs plans in which a Job never ends where a cache is stale. */
function runnerOf(played: FaultPlan[]): (each: FaultPlan) => Promise<Outcome> {
  return async (each) => {
    played.push(each);
    const isStale = each.events?.some(({ staleCache }) => staleCache !== undefined) === true;
    return {
      violations: [],
      covered: ["staleness"],
      hash: "1",
      settled: { "Job default/pi": isStale ? { ...complete, end: "", reason: "" } : complete },
      figures: { requests: 1, writes: 1, virtualMs: 1 },
    };
  };
}

test("a Job that ends differently than without faults is reported at the end, and user actions are in both runs", async () => {
  const played: FaultPlan[] = [];
  const outcome = await runAndCompare(plan, runnerOf(played));
  expect(played.map(({ events }) => events)).toEqual([plan.events, [plan.events![1]]]);
  expect(outcome).toMatchObject({
    hash: "1",
    violations: [{ subject: "Job default/pi", atMs: Date.parse("2026-01-01T00:10:00Z") }],
  });
});

test("without faults, or when something has gone wrong already, there is nothing to compare", async () => {
  const played: FaultPlan[] = [];
  await runAndCompare(withoutFaults(plan), runnerOf(played));
  expect(played).toHaveLength(1);
  const violations = [{ invariant: "S1", subject: "Job default/pi", message: "", atMs: 0 }];
  const outcome = await runAndCompare(plan, async (each) => ({ ...(await runnerOf(played)(each)), violations }));
  expect(played).toHaveLength(2);
  expect(outcome.violations).toBe(violations);
});

test("where events leave open all that a Job can come to, there is nothing to compare", async () => {
  const applied: ScenarioEventEntry = {
    at: "+1s",
    apply: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "applied" } },
  };
  const nodeLost: ScenarioEventEntry = { at: "+1s", nodeLost: "node-1" };
  const nodeDeleted: ScenarioEventEntry = { at: "+1s", delete: { kind: "Node", name: "node-1" } };
  for (const [scenarioEvent, end, plansRun] of [
    [applied, "", 1],
    [nodeLost, "Complete", 1],
    [nodeLost, "", 2],
    [nodeDeleted, "", 1],
  ] as const) {
    let played = 0;
    await runAndCompare({ ...plan, events: [...plan.events!, scenarioEvent] }, async () => {
      played++;
      const settled = { "Job default/pi": { ...complete, end } };
      return { violations: [], covered: [], hash: "1", settled, figures: { requests: 1, writes: 1, virtualMs: 1 } };
    });
    expect(played).toBe(plansRun);
  }
});

test("the run without faults has one controller manager, and is held to nothing", async () => {
  const played: FaultPlan[] = [];
  const calm: FaultPlan[] = [];
  await runAndCompare({ ...plan, controllerManagers: 3 }, runnerOf(played), runnerOf(calm));
  expect(played.map(({ controllerManagers }) => controllerManagers)).toEqual([3]);
  expect(calm.map(({ controllerManagers }) => controllerManagers)).toEqual([undefined]);
});

test("without its faults a generated plan is the one that is generated without faults", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const { for: _for, ...calm } = withoutFaults(generatePlan(seed));
    const { for: _length, ...generated } = generatePlan(seed, { faults: [] });
    expect(calm).toEqual(generated);
  }
});

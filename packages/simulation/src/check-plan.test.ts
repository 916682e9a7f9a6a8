import type { UnstructuredObject } from "@kubewright/api";
import { expect, test } from "vitest";

import { planOf, recordRun } from "../test/plans.js";
import { type FaultPlan, PlanError, runPlan, readPlan } from "./index.js";

test.each<[string, Partial<FaultPlan> & Record<string, unknown>, string]>([
  [
    "an unknown controller",
    { events: [{ at: "+1s", controllerDown: "job-controler" }] },
    'events[0].controllerDown: "job-controler" is not known; did you mean "job-controller"?',
  ],
  [
    "an unknown component",
    { events: [{ at: "+1s", requestFails: { components: ["kubelt"] } }] },
    'events[0].requestFails.components[0]: "kubelt" is not known; did you mean "kubelet"?',
  ],
  [
    "an unknown kind",
    { events: [{ at: "+1s", watchCut: { kinds: ["Pods"] } }] },
    'events[0].watchCut.kinds: "Pods" is not known; did you mean "Pod"?',
  ],
  [
    "a controller manager that there is not",
    { events: [{ at: "+1s", for: "1m", paused: "controller-manager-2" }] },
    'events[0].paused: "controller-manager-2" is not known; did you mean "controller-manager-1"?',
  ],
  [
    "what lasts without saying how long",
    { events: [{ at: "+1s", staleList: { by: "10s" } }] },
    "events[0]: staleList needs `for`: how long it lasts, for example 10m",
  ],
  [
    "what happens after the end",
    { events: [{ at: "+1h", apiServerRestart: true }] },
    "events[0].at: +1h is not before the end, 2026-01-01T00:10:00Z; run longer than 10m, or move the event earlier",
  ],
  [
    "a Lease of half a second",
    { controllers: { leaseDurations: ["500ms"] } },
    'controllers.leaseDurations[0]: "500ms" is not a whole number of seconds; write for example 15s',
  ],
  [
    "a file",
    { manifests: ["job.yaml" as never] },
    'manifests[0]: "job.yaml" is a file; a plan has its objects written out',
  ],
])("%s is refused, in one line", async (_what, mistake, message) => {
  const failure = await runPlan(planOf([], mistake)).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(PlanError);
  expect((failure as Error).message).toBe(message);
});

test.each([
  [
    { events: [{ at: "+1s", requestFails: { nth: 0 } }] },
    "events[0].requestFails.nth: 0 is too small; at least 1 is needed",
  ],
  [
    { events: [{ at: "+1s", requestFailed: {} }] },
    'events[0].requestFailed: is not a field of this; did you mean "requestFails"?',
  ],
  [
    { events: [{ at: "+1s", for: "1m", clockSkew: { controllerManager: "controller-manager-1", by: "1h" } }] },
    'events[0].clockSkew.by: "1h" is not a jump; write for example +2h or -30m',
  ],
  [{ seed: undefined }, "seed: is missing; a plan says all that a run depends on"],
])("a saved plan with a mistake is refused: %j", async (mistake, message) => {
  const saved: unknown = JSON.parse(JSON.stringify({ ...planOf(), ...mistake }));
  await expect(readPlan(saved)).rejects.toThrow(new PlanError(message));
});

test("a plan that is saved and read is the same plan", async () => {
  const plan = planOf([{ at: "+5s", controllerCrashes: { controller: "my-operator", nth: 2 } }]);
  expect(await readPlan(JSON.parse(JSON.stringify(plan)), ["my-operator"])).toEqual(plan);
});

test("user actions on missing objects do not end the run", async () => {
  const { outcome, notes } = await recordRun(planOf([{ at: "+5s", delete: { kind: "Job", name: "gone" } }]));
  expect(outcome.settled).toMatchObject({ "Job default/a": { end: "Complete" } });
  expect(notes).toEqual([
    "a user deletes Job default/gone",
    expect.stringMatching(/^delete failed: jobs.batch "gone" not found/),
  ]);
});

test("an object that the API server refuses is reported with the reason", async () => {
  const { manifests } = planOf();
  const [job] = manifests as [UnstructuredObject];
  await expect(runPlan(planOf([], { manifests: [{ ...job, metadata: { name: "A" } }] }))).rejects.toThrow(
    /^manifests: Job A: Job.batch "A" is invalid/,
  );
});

import type { Job, Pod } from "@kubewright/api";
import { describe, expect, it } from "vitest";

import type { ScenarioEventKind } from "../faults/registry.js";
import type { FaultPlan } from "../fault-plan.js";
import { History } from "../../test/history.js";
import { condition, job, pod } from "../../test/objects.js";
import { podsAreClaimed } from "./claims.js";

const fault = { at: "+0s", for: "1m", apiServerSlow: { by: "1s" } } as const;

function reported(
  report: (history: History) => void,
  { waitMs = 31_000, plan = {} }: { readonly waitMs?: number; readonly plan?: Partial<FaultPlan> } = {},
): readonly string[] {
  const history = new History(podsAreClaimed, plan);
  report(history);
  history.pass(waitMs);
  return history.violations;
}

const stored =
  (owner: Job, ...pods: readonly Pod[]) =>
  (history: History): void => {
    for (const object of [owner, ...pods]) history.store(object);
  };
const free = pod("Running", { metadata: { ownerReferences: [] } });
const relabelled = pod("Running", { metadata: { labels: { app: "other" } } });
const going = (owner: Job): Job => ({
  ...owner,
  metadata: { ...owner.metadata, deletionTimestamp: "2026-03-02T10:00:00Z", finalizers: ["foregroundDeletion"] },
});

describe("L12 pods are claimed", () => {
  it.each<[string, Job, Pod]>([
    ["has no controller, and Job default/pi that selects it does not adopt it", job(), free],
    ["is not released by Job default/pi, which does not select it", job(), relabelled],
    [
      "is not released by Job default/pi, which does not select it",
      job(),
      { ...relabelled, status: { phase: "Succeeded" } },
    ],
    ["keeps the tracking finalizer, and its Job default/pi is being deleted", going(job()), pod()],
  ])("refuses a pod that %s", (message, owner, of) => {
    expect(reported(stored(owner, of))).toEqual([`Pod default/a: ${message}`]);
    expect(reported(stored(owner, of), { waitMs: 29_000 })).toEqual([]);
    expect(reported(stored(owner, of), { plan: { jitter: { events: "3s" } } })).toEqual([]);
  });

  it.each<[string, Job, Pod]>([
    ["its Job selects", job(), pod()],
    ["no Job selects", job(), pod("Running", { metadata: { ownerReferences: [], labels: {} } })],
    ["has ended", job(), { ...free, status: { phase: "Succeeded" } }],
    ["is free, of a Job that has ended", job({ conditions: [condition("Complete")] }), free],
    ["is free, of a Job that is being deleted", going(job()), free],
    ["is not selected, of a Job that has ended", job({ conditions: [condition("Failed")] }), relabelled],
    ["is free, of another controller's Job", job({}, { managedBy: "example.com/other" }), free],
    ["is being released with its Job", going(job()), pod("Running", { tracked: false })],
  ])("accepts a pod that %s", (_what, owner, of) => {
    expect(reported(stored(owner, of))).toEqual([]);
  });

  it("waits again when a pod changes its owner, and not when it becomes ready", () => {
    const changed = (change: Partial<Pod>): readonly string[] =>
      reported(
        (history) => {
          stored(job(), free)(history);
          history.pass(20_000);
          history.store({ ...free, ...change });
        },
        { waitMs: 20_000 },
      );
    expect(changed({ metadata: { ...free.metadata, labels: { ...free.metadata.labels, tier: "new" } } })).toEqual([]);
    expect(changed({ status: { phase: "Running", message: "ready" } })).toHaveLength(1);
  });

  it("waits while something is wrong, and until that is tried again", () => {
    const plan = { events: [fault] };
    const disturbed = (
      kind: ScenarioEventKind,
      phases: readonly ("begin" | "end")[],
      waitMs = 31_000,
    ): readonly string[] =>
      reported(
        (history) => {
          for (const phase of phases) history.happen(0, kind, phase);
          stored(job(), free)(history);
        },
        { plan, waitMs },
      );
    expect(disturbed("apiServerSlow", ["begin"], 600_000)).toEqual([]);
    expect(disturbed("apiServerSlow", ["begin", "end"])).toEqual([]);
    expect(disturbed("apiServerSlow", ["begin", "end"], 126_000)).toHaveLength(1);
    expect(disturbed("patch", ["begin"])).toHaveLength(1);
    const refused = (code: number): readonly string[] =>
      reported((history) => {
        stored(job(), free)(history);
        history.answer({ component: "job-controller", verb: "patch", code });
      });
    expect([refused(200).length, refused(500).length]).toEqual([1, 0]);
  });

  it("accepts what is kept of a Job that is being deleted when a user has changed whose its pods are", () => {
    const kept = (history: History): void => {
      stored(job(), relabelled)(history);
      stored(going(job()), pod())(history);
    };
    expect(reported(kept)).toEqual([]);
  });

  it("says nothing where work is shared", () => {
    expect(reported(stored(job(), free), { plan: { controllers: { sharding: true } } })).toEqual([]);
  });
});

import { parseDuration } from "@kubewright/clock";
import { expect, test } from "vitest";

import { generatePlan } from "../generate/generate-plan.js";
import { endOfScenarioEvent } from "../generate/event-times.js";
import { missingReferences } from "../minimize/references.js";
import { mutatePlan } from "./mutate-plan.js";

const pairs = Array.from({ length: 500 }, (_, index) => {
  const plan = generatePlan(index + 1);
  return { plan, changed: mutatePlan(plan, index + 7, generatePlan(index + 7)) };
});

test("a change leaves the workload alone, and changes something else", () => {
  for (const { plan, changed } of pairs)
    expect([changed.manifests, changed.workloads, changed.start, changed.nodes]).toEqual([
      plan.manifests,
      plan.workloads,
      plan.start,
      plan.nodes,
    ]);
  const same = pairs.filter(
    ({ plan, changed }) => JSON.stringify({ ...changed, name: plan.name }) === JSON.stringify(plan),
  );
  expect(same.length).toBeLessThan(50);
});

test("equal numbers make equal changes", () => {
  for (const { plan, changed } of pairs.slice(0, 20)) {
    const number = Number(changed.name!.split("+")[1]);
    expect(mutatePlan(plan, number, generatePlan(number))).toEqual(changed);
  }
});

test("a changed plan makes sense, and leaves time to settle", () => {
  for (const { plan, changed } of pairs) {
    expect(missingReferences(changed)).toEqual([]);
    const settleMs = (each: typeof plan): number =>
      parseDuration(each.for)! - Math.max(0, ...(each.events ?? []).map(endOfScenarioEvent));
    expect(settleMs(changed)).toBeGreaterThanOrEqual(settleMs(plan));
  }
});

test("no process restarts where lists are stale", () => {
  for (const { changed } of pairs) {
    const kinds = (changed.events ?? []).flatMap((entry) => Object.keys(entry));
    expect(
      kinds.includes("staleList") && (kinds.includes("controllerCrashes") || kinds.includes("controllerDown")),
    ).toBe(false);
  }
});

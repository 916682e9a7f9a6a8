import * as fc from "fast-check";
import { expect, test } from "vitest";

import type { ObjectRecord, TraceRecord } from "../run/trace.js";
import { LoadBands } from "./load-bands.js";
import { type CurvePlan, type LoadCurve, LoadCurveFollower, curvePlan } from "./load-curve.js";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const START_MS = Date.parse("2026-01-01T00:00:00Z");

/** Steps of a minute, and the groups. */
const plan = (steps: number, groups: CurvePlan["groups"] = []): CurvePlan => ({
  fromMs: START_MS,
  stepMs: MINUTE_MS,
  steps,
  groups,
});

function job(name: string, owner?: string): TraceRecord {
  return {
    type: "object",
    at: new Date(START_MS).toISOString(),
    change: "ADDED",
    kind: "Job",
    namespace: "default",
    name,
    uid: name,
    ...(owner === undefined ? {} : { owner: { kind: "CronJob", name: owner, uid: owner } }),
    state: { active: 0, succeeded: 0, failed: 0 },
  };
}

function pod(seconds: number, name: string, phase: "Pending" | "Running" | "Succeeded", owner = "run"): ObjectRecord {
  return {
    type: "object",
    at: new Date(START_MS + seconds * 1000).toISOString(),
    change: phase === "Pending" ? "ADDED" : "MODIFIED",
    kind: "Pod",
    namespace: "default",
    name,
    uid: name,
    owner: { kind: "Job", name: owner, uid: owner },
    state: { phase, ...(phase === "Pending" ? {} : { node: "node-1" }) },
    ...(phase === "Pending" ? { cpuMillis: 500, memoryBytes: 1024 } : {}),
  };
}

test("a step has the maximum within it, including earlier pods and excluding those that ended at its start", () => {
  const follower = new LoadCurveFollower(plan(6));
  for (const record of [
    pod(10, "a", "Pending"),
    pod(20, "a", "Running"),
    pod(30, "b", "Pending"),
    pod(40, "b", "Running"),
    pod(120, "a", "Succeeded"),
    pod(200, "b", "Succeeded"),
  ])
    follower.add(record);
  expect(follower.curves(START_MS + 360_000).all).toEqual({
    pods: [2, 2, 1, 1, 0, 0],
    cpuMillis: [1000, 1000, 500, 500, 0, 0],
    memoryBytes: [2048, 2048, 1024, 1024, 0, 0],
  });
});

test("levels of unfinished pods last to the end of the window, also for a CronJob with a curve", () => {
  const groups = [
    { kind: "CronJob", namespace: "default", name: "report" },
    { kind: "Job", namespace: "default", name: "report" },
  ] as const;
  const follower = new LoadCurveFollower(plan(3, groups));
  for (const record of [
    job("run", "report"),
    job("report"),
    pod(70, "a", "Pending"),
    pod(80, "c", "Pending", "report"),
  ])
    follower.add(record);
  const { all, groups: each } = follower.curves(START_MS + 180_000);
  expect(all.pods).toEqual([0, 2, 2]);
  expect(each.map(({ pods }) => pods)).toEqual([
    [0, 1, 1],
    [0, 1, 1],
  ]);
});

test.each([
  [90 * MINUTE_MS, 30_000],
  [DAY_MS, 5 * MINUTE_MS],
  [7 * DAY_MS, 30 * MINUTE_MS],
  [30 * DAY_MS, 120 * MINUTE_MS],
  [365 * DAY_MS, 2 * DAY_MS],
])("a window of %d ms has round steps of %d ms, not more than a chart has room for", (durationMs, stepMs) => {
  const { steps, fromMs, ...found } = curvePlan(START_MS + 61_000, durationMs, []);
  expect(found.stepMs).toBe(stepMs);
  expect(fromMs % stepMs).toBe(0);
  expect(steps).toBeLessThanOrEqual(361);
  expect(fromMs + steps * stepMs).toBeGreaterThanOrEqual(START_MS + 61_000 + durationMs);
});

const curve = (pods: readonly number[]): LoadCurve => ({ pods, cpuMillis: pods, memoryBytes: pods });

test("bands are quantiles over the futures, in any order", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 3, maxLength: 3 }), { minLength: 1 }),
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
      (levels, random) => {
        const bands = new LoadBands();
        const shuffled = new LoadBands();
        const futures = levels.map((each, seed) => ({
          all: curve(each),
          groups: [],
          seed,
          order: random.next().value,
        }));
        for (const { seed, ...future } of futures) bands.add(future, seed);
        for (const { seed, ...future } of [...futures].sort((a, b) => a.order - b.order)) shuffled.add(future, seed);
        expect(shuffled.all).toEqual(bands.all);
        for (const step of [0, 1, 2]) {
          const sorted = levels.map((each) => each[step]!).sort((a, b) => a - b);
          const { p50, p95, max, seeds } = bands.all!.pods;
          expect([p50[step], p95[step], max[step]]).toEqual([
            sorted[Math.ceil(sorted.length * 0.5) - 1],
            sorted[Math.ceil(sorted.length * 0.95) - 1],
            sorted.at(-1),
          ]);
          expect(seeds[step]).toBe(levels.findIndex((each) => each[step] === sorted.at(-1)));
        }
      },
    ),
  );
});

test("the number of level counters is bounded, and no level exceeds the maximum", () => {
  const bands = new LoadBands();
  for (let seed = 1; seed <= 10_000; seed++) bands.add({ all: curve([100_000 + seed]), groups: [] }, seed);
  const { p50, p95, max } = bands.all!.memoryBytes;
  expect([p50, p95, max]).toEqual([[105_000], [110_000], [110_000]]);
  const alone = new LoadBands();
  alone.add({ all: curve([105_600]), groups: [] }, 1);
  expect(alone.all!.memoryBytes).toMatchObject({ p50: [105_600], p95: [105_600], max: [105_600] });
});

import { expect, test } from "vitest";

import { highlights } from "../../../packages/timeline/src/page/highlights.js";
import { laneBins } from "../../../packages/timeline/src/page/lane-bins.js";
import { calendarBins } from "../../../packages/timeline/src/page/calendar-bins.js";
import type { TimeScale } from "../../../packages/timeline/src/page/time-scale.js";
import { ZonedTime } from "../../../packages/timeline/src/page/zoned-time.js";
import { itemOutcome, itemSummary } from "../../../packages/timeline/src/page/item-text.js";
import { podItem, runItem } from "../../../packages/timeline/src/page/item.js";
import { type Filter, buildScene, fitScene } from "../../../packages/timeline/src/page/scene.js";
import type { ReportData } from "@kubewright/timeline/data";
import type { PodBar, RunRow, TimelineGroup } from "@kubewright/timeline/data";
import { generateReport } from "./generate-report.js";

const HOUR_MS = 3_600_000;
const ALL: Filter = { text: "", namespace: "", looks: new Set(), failedPods: false };

const run = (name: string, slotMs: number, more: Partial<RunRow> = {}): RunRow => ({
  type: "run",
  name,
  uid: name,
  createdMs: slotMs,
  slotMs,
  endMs: slotMs + 60_000,
  outcome: "Complete",
  succeeded: 1,
  failed: 0,
  pods: [],
  hiddenPods: 0,
  ...more,
});
const pod = (name: string, more: Partial<PodBar> = {}): PodBar => ({
  name,
  uid: name,
  createdMs: 0,
  outcome: "Pending",
  ...more,
});
const group = (name: string, rows: TimelineGroup["rows"], policy = "Forbid"): TimelineGroup => ({
  kind: "CronJob",
  uid: name,
  namespace: "default",
  name,
  cronJob: { schedule: "0 * * * *", concurrencyPolicy: policy, active: [] },
  rows,
  hiddenRows: 0,
});
const report = (groups: readonly TimelineGroup[], events: ReportData["events"] = []): ReportData => ({
  ...generateReport(2, 1),
  groups,
  events,
});

test("repeated incidents are one highlight, with the most affected workloads first", () => {
  const skip = (name: string, slot: number): TimelineGroup["rows"][number] => ({
    type: "skipped",
    slotMs: slot * HOUR_MS,
    cause: "stillActive",
    reason: `${name}-${slot} still active (Forbid)`,
  });
  const data = report([
    group("few", [skip("few", 1)]),
    group("many", [skip("many", 1), skip("many", 2), { ...skip("many", 3), unlisted: 4 } as never]),
    group("bad", [run("bad-1", 0, { outcome: "Failed", reason: "BackoffLimitExceeded" })]),
  ]);
  const found = highlights(buildScene(data, ALL, new Set()), data);
  expect(
    found.map(({ title, reason, parts }) => [title, reason, parts.map(({ name, count }) => `${name} ${count}`)]),
  ).toEqual([
    ["1 run failed", "BackoffLimitExceeded", ["bad 1"]],
    ["8 runs skipped", "the run before still active (Forbid)", ["many 7", "few 1"]],
  ]);
});

test("late runs and pods without a node are highlights", () => {
  const pendingRun = run("big-1", 0, { outcome: "Running", pods: [pod("big-1-x")] });
  const data = report(
    [group("big", [pendingRun]), group("slow", [run("slow-1", 0, { createdMs: 90_000 }), run("slow-2", HOUR_MS)])],
    [
      {
        atMs: 0,
        warning: true,
        reason: "FailedScheduling",
        message: "0/3 nodes are available: 3 Insufficient cpu.",
        count: 1,
        involved: { kind: "Pod", namespace: "default", name: "big-1-x" },
      },
    ],
  );
  const found = highlights(buildScene(data, ALL, new Set()), data);
  expect(found.map(({ title, reason }) => [title, reason])).toEqual([
    ["1 pod found no node", "0/3 nodes are available: 3 Insufficient cpu."],
    ["1 run started late", "by 1m 30s at most"],
  ]);
});

test("totals count the filtered rows, and a replaced run does not count as unfinished", () => {
  const stopped = pod("a-1-x", { outcome: "Failed", stopped: true, endMs: 1 });
  const data = report([
    group("a", [run("a-1", 0, { outcome: "Deleted", pods: [stopped] }), run("a-2", HOUR_MS, { outcome: "Running" })]),
    group("b", [run("b-1", 0)]),
  ]);
  expect(buildScene(data, { ...ALL, text: "default/a" }, new Set()).totals).toEqual({
    jobs: 2,
    jobsComplete: 0,
    jobsFailed: 0,
    jobsDeleted: 1,
    runsSkipped: 0,
    pods: 1,
    podsSucceeded: 0,
    podsFailed: 0,
    podsStopped: 1,
  });
  expect(buildScene(data, ALL, new Set()).totals).toMatchObject({ jobs: 3, jobsComplete: 1 });
});

test("a run deleted for the next one is Replaced, any other deleted run is Deleted", () => {
  const rows = [
    run("r-1", 0, { outcome: "Deleted", endMs: HOUR_MS }),
    run("r-2", HOUR_MS, { outcome: "Deleted", endMs: HOUR_MS + 60_000 }),
  ];
  const replacing = group("r", rows, "Replace");
  expect(rows.map((row) => itemOutcome(runItem(replacing, row, 0)))).toEqual(["Replaced", "Deleted"]);
  expect(itemOutcome(podItem(replacing, rows[0]!, pod("p", { outcome: "Failed", stopped: true }), 0))).toBe("Stopped");
});

test("marks that are too close become bins, which stay in place as the window moves", () => {
  const rows = Array.from({ length: 700 }, (_, hour) => ({
    type: "skipped" as const,
    slotMs: hour * HOUR_MS,
    cause: "suspended" as const,
    reason: "suspended",
  }));
  const { rows: shown } = buildScene(report([group("on-hold", rows)]), ALL, new Set());
  const lane = shown[0]!.lanes[0]!;
  const far = { fromMs: 0, toMs: 700 * HOUR_MS, width: 800 };
  const zone = new ZonedTime("Europe/Berlin");
  const binsOf = (scale: TimeScale): ReturnType<typeof laneBins> => laneBins(lane, scale, calendarBins(scale, zone));
  const bins = binsOf(far)!;
  expect(bins.length).toBeLessThan(50);
  expect(bins.reduce((sum, { total }) => sum + total, 0)).toBe(700);
  expect(bins[3]!.counts).toEqual(new Map([["skipped", bins[3]!.total]]));
  const by = 5 * HOUR_MS;
  const moved = binsOf({ ...far, fromMs: by, toMs: far.toMs + by })!;
  expect(bins.map(({ fromMs }) => fromMs)).toEqual(expect.arrayContaining(moved.map(({ fromMs }) => fromMs)));
  expect(binsOf({ ...far, toMs: 40 * HOUR_MS })).toBeUndefined();
});

test("a bin is an hour, a day, a week or a month of the local calendar, also where clocks change", () => {
  const zone = new ZonedTime("Europe/Berlin");
  const fromMs = Date.parse("2026-03-27T10:20:00Z");
  const binsOf = (days: number): { unit: string; edges: string[]; hours: number[] } => {
    const { unit, edgesMs } = calendarBins({ fromMs, toMs: fromMs + days * 24 * HOUR_MS, width: 820 }, zone);
    return {
      unit,
      edges: edgesMs.slice(0, 4).map((atMs) => zone.minute(atMs)),
      hours: edgesMs.slice(1, 4).map((atMs, index) => (atMs - edgesMs[index]!) / HOUR_MS),
    };
  };
  expect(binsOf(1)).toMatchObject({ unit: "hour", edges: expect.arrayContaining(["2026-03-27 11:00"]) });
  expect(binsOf(14)).toEqual({
    unit: "day",
    edges: ["2026-03-27 00:00", "2026-03-28 00:00", "2026-03-29 00:00", "2026-03-30 00:00"],
    // The clocks go forward on the 29th.
    hours: [24, 24, 23],
  });
  expect(binsOf(365)).toMatchObject({ unit: "week", edges: expect.arrayContaining(["2026-03-23 00:00"]) });
  expect(binsOf(1_000).unit).toBe("month");
});

test("an object that refuses pods is the first highlight, and its runs wait with the reason", () => {
  const text = "exceeded quota: compute, requested: pods=1, used: pods=0, limited: pods=0";
  const refusal = { object: "ResourceQuota default/compute", text };
  const refused = run("r-1", 0, { outcome: "Running", refusal, pods: [] });
  const slot = {
    type: "skipped",
    slotMs: HOUR_MS,
    cause: "refused",
    reason: `no Job created: ${text}`,
    refusal,
  } as const;
  const failed = run("r-2", 2 * HOUR_MS, { outcome: "Failed", reason: "BackoffLimitExceeded" });
  const data = report([group("r", [refused, slot, failed])]);
  const scene = buildScene(data, ALL, new Set());
  expect(highlights(scene, data).map(({ title, reason }) => [title, reason])).toEqual([
    ["ResourceQuota default/compute: no pod created for 1 run", text],
    ["ResourceQuota default/compute: no Job created for 1 slot", text],
    ["1 run failed", "BackoffLimitExceeded"],
  ]);
  const item = scene.items.get("r-1")!;
  expect([item.look, itemOutcome(item)]).toEqual(["waiting", "Waiting"]);
  expect(itemSummary(item, new ZonedTime("UTC"))).toContain(`no pod created: ${text}`);
});

test("the filter for failed pods shows them and their runs, also of runs that completed", () => {
  const failedPod = pod("a-1-x", { outcome: "Failed", endMs: 1 });
  const data = report([
    group("a", [
      run("a-1", 0, { pods: [failedPod, pod("a-1-y", { outcome: "Succeeded", endMs: 2 })] }),
      run("a-2", HOUR_MS),
    ]),
    group("b", [run("b-1", 0, { pods: [pod("b-1-x", { outcome: "Failed", stopped: true, endMs: 1 })] })]),
  ]);
  const shown = buildScene(data, { ...ALL, failedPods: true }, new Set());
  expect([...shown.items.keys()]).toEqual(["a-1", "a-1-x"]);
  expect(shown.failedPods).toBe(1);
  expect(buildScene(data, ALL, new Set()).failedPods).toBe(1);
});

test("a few rows fill the screen, and many keep their height", () => {
  const few = buildScene(report([group("a", [run("a-1", 0, { pods: [pod("p")] })])]), ALL, new Set());
  const fitted = fitScene(few, 600);
  expect(fitted.height).toBeGreaterThan(590);
  expect(fitted.height).toBeLessThanOrEqual(600);
  expect(fitted.rows.map(({ top }) => top)).toEqual([
    0,
    fitted.rows[0]!.height,
    fitted.rows[0]!.height + fitted.rows[1]!.height,
  ]);
  expect(fitScene(few, 50)).toBe(few);
});

test("a CronJob's row has its schedule in words", () => {
  const { rows } = buildScene(report([{ ...group("a", []), scheduleText: "every hour, on the hour" }]), ALL, new Set());
  expect(rows[0]!.note).toBe("every hour, on the hour  UTC");
});

import { expect, test } from "vitest";

import { withClockGaps } from "@kubewright/analysis/reports";
import { type Item, runItem } from "../../../packages/timeline/src/page/item.js";
import { Lane, packLanes } from "../../../packages/timeline/src/page/lane.js";
import {
  type Filter,
  buildScene,
  initiallyCollapsed,
  itemAt,
  laneMiddle,
} from "../../../packages/timeline/src/page/scene.js";
import { timeBands } from "../../../packages/timeline/src/page/time-bands.js";
import { timeTicks } from "../../../packages/timeline/src/page/time-ticks.js";
import { type ViewState, fromHash, toHash } from "../../../packages/timeline/src/page/view-state.js";
import { yamlText } from "../../../packages/timeline/src/page/yaml-text.js";
import { ZonedTime, isZone } from "../../../packages/timeline/src/page/zoned-time.js";
import type { RunRow, TimelineGroup } from "@kubewright/timeline/data";
import { generateReport } from "./generate-report.js";
import type { ScenarioEventRecord } from "../../../packages/analysis/src/run/trace.js";

const HOUR_MS = 3_600_000;
const ALL: Filter = { text: "", namespace: "", looks: new Set(), failedPods: false };

const run = (name: string, startMs: number, endMs: number, outcome: RunRow["outcome"] = "Complete"): RunRow => ({
  type: "run",
  name,
  uid: name,
  createdMs: startMs,
  startMs,
  endMs,
  outcome,
  succeeded: 1,
  failed: 0,
  pods: [],
  hiddenPods: 0,
});
const group = (rows: TimelineGroup["rows"], schedule = "0 * * * *", timeZone = "Europe/Berlin"): TimelineGroup => ({
  kind: "CronJob",
  uid: "uid",
  namespace: "default",
  name: "tick",
  cronJob: { schedule, timeZone, active: [] },
  rows,
  hiddenRows: 0,
});
const items = (rows: readonly RunRow[]): Item[] => rows.map((row) => runItem(group([]), row, 0));

test("bars that are too close become one span, whose number goes with the pixels", () => {
  const lane = new Lane(
    items(Array.from({ length: 50_000 }, (_, index) => run(`r${index}`, index * 10, index * 10 + 5))),
  );
  const spans = [...lane.spans("complete", 0, 500_000, 500)];
  expect(spans).toHaveLength(1_000);
  expect(spans[0]).toMatchObject({ fromMs: 0, toMs: 495, item: undefined });
  expect([...lane.spans("complete", 1_000, 1_029, 1)].map(({ item }) => item?.id)).toEqual(["r100", "r101", "r102"]);
});

test("a bar that began long before the window and reaches into it is found", () => {
  const lane = new Lane(items([run("long", 0, 1_000), run("short", 10, 20), run("late", 2_000, 2_010)]));
  expect([...lane.spans("complete", 500, 600, 1)].map(({ item }) => item?.id)).toContain("long");
  expect(lane.hit(600, 0)?.id).toBe("long");
  expect(lane.hit(1_990, 15)?.id).toBe("late");
  expect(lane.hit(1_500, 15)).toBeUndefined();
  expect(lane.startAfter(10)).toBe(2_000);
});

test("one failed run among thousands is a span of its own, painted last", () => {
  const rows = Array.from({ length: 1_000 }, (_, index) =>
    run(`r${index}`, index, index + 1, index === 500 ? "Failed" : "Complete"),
  );
  const lane = new Lane(items(rows));
  expect([...lane.spans("failed", 0, 1_000, 100)].map(({ item }) => item?.id)).toEqual(["r500"]);
  expect(lane.hit(500, 5)?.id).toBe("r500");
});

test("overlapping bars are packed into separate lanes, up to a limit", () => {
  const rows = [run("a", 0, 10), run("b", 5, 15), run("c", 10, 20), run("d", 6, 30)].sort(
    (a, b) => a.createdMs - b.createdMs,
  );
  const names = (lanes: readonly Lane[]): string[] => lanes.map((lane) => lane.items.map(({ id }) => id).join());
  expect(names(packLanes(items(rows), 10))).toEqual(["a,c", "b", "d"]);
  expect(names(packLanes(items(rows), 2))).toEqual(["a,c", "b,d"]);
});

test("a scene has a CronJob's slots, Jobs and pods in rows that expand and collapse", () => {
  const data = generateReport(400, 2);
  const open = buildScene(data, ALL, new Set());
  expect(open.rows.map(({ level, label }) => `${level} ${label}`)).toEqual([
    "1 report-01",
    "2 Jobs",
    "3 Pods",
    "1 report-02",
    "2 Jobs",
    "3 Pods",
  ]);
  const first = open.rows[0]!;
  expect(first.lanes[0]!.items.every((item) => item.type === "ghost" || item.startMs === item.endMs)).toBe(true);
  const jobs = open.rows[1]!;
  const item = jobs.lanes[0]!.items[3]!;
  expect(itemAt(open, jobs.top + laneMiddle(jobs, 0), item.startMs + 1, 0)?.item?.id).toBe(item.id);
  const closed = buildScene(data, ALL, new Set([first.id]));
  expect(closed.rows.map(({ level }) => level)).toEqual([1, 1, 2, 3]);
  expect(closed.rows[0]!.lanes[0]!.items.some((one) => one.endMs > one.startMs)).toBe(true);
});

test("a row says when its CronJob is suspended", () => {
  const suspended = { ...group([]), cronJob: { schedule: "0 * * * *", suspend: true, active: [] } };
  expect(buildScene({ ...generateReport(2, 1), groups: [suspended] }, ALL, new Set()).rows[0]!.note).toBe(
    "0 * * * *  UTC  suspended",
  );
});

test("skips that the decision did not list are counted with the last one listed", () => {
  const ghost = { type: "skipped", slotMs: 0, cause: "superseded", reason: "missed", unlisted: 48 } as const;
  const data = { ...generateReport(2, 1), groups: [group([ghost])] };
  expect(buildScene(data, ALL, new Set()).counts.skipped).toBe(49);
});

test("the filter uses name, namespace and outcome; the counts ignore the outcome", () => {
  const data = generateReport(400, 2);
  const none = new Set<string>();
  expect(buildScene(data, { ...ALL, namespace: "shop" }, none).rows[0]!.label).toBe("report-02");
  expect(buildScene(data, { ...ALL, text: "REPORT-01" }, none).rows.map(({ label }) => label)).toEqual([
    "report-01",
    "Jobs",
    "Pods",
  ]);
  expect(buildScene(data, { ...ALL, text: "nothing" }, none).rows).toEqual([]);
  const failed = buildScene(data, { ...ALL, looks: new Set(["failed"]) }, none);
  expect(failed.runs.length).toBeGreaterThan(0);
  expect(failed.runs.every(({ look }) => look === "failed")).toBe(true);
  expect(failed.counts).toEqual(buildScene(data, ALL, none).counts);
  expect(failed.counts.failed).toBe(failed.runs.length);
});

test("only rows that fit on a screen are initially expanded", () => {
  expect(initiallyCollapsed(generateReport(400, 2).groups)).toEqual(new Set());
  expect(initiallyCollapsed(generateReport(4_000, 40).groups).size).toBe(32);
});

test("an ordinary daily run in the hour that clocks skip becomes a ghost, an hourly one does not", () => {
  const data = {
    ...generateReport(2, 1),
    startMs: Date.parse("2026-03-28T00:00:00Z"),
    endMs: Date.parse("2026-03-30T00:00:00Z"),
  };
  const ghosts = (schedule: string, zone?: string): unknown =>
    withClockGaps({ ...data, groups: [group([], schedule, zone)] }).groups[0]!.rows;
  expect(ghosts("30 2 * * *")).toEqual([
    {
      type: "skipped",
      slotMs: Date.parse("2026-03-29T01:00:00Z"),
      cause: "noSuchTime",
      reason: "Sun 2026-03-29 02:30: clocks go forward from 02:00 to 03:00, so no run",
    },
  ]);
  expect(ghosts("30 * * * *")).toEqual([]);
  expect(ghosts("30 2 * * *", "Etc/UTC")).toEqual([]);
  expect(ghosts("30 3 * * *")).toEqual([]);
  expect(ghosts("30 2 * * *", "Mars/Olympus")).toEqual([]);
});

test("clock changes and outages are bands", () => {
  const data = {
    ...generateReport(2, 1),
    startMs: Date.parse("2026-10-24T00:00:00Z"),
    endMs: Date.parse("2026-10-26T00:00:00Z"),
  };
  const at = "2026-10-24T03:00:00.000Z";
  const until = "2026-10-24T05:00:00.000Z";
  const bands = timeBands({
    ...data,
    scenarioEvents: [{ type: "scenarioEvent", at, until, kind: "controllerDown", message: "down" }],
  });
  expect(bands.map(({ kind, label, fromMs, toMs }) => [kind, label, (toMs - fromMs) / HOUR_MS])).toEqual([
    ["outage", "controllerDown", 2],
    ["clock", "DST 02:00–03:00 twice", 2],
  ]);
});

test("bands that overlap lie one below the other, in three rows at most", () => {
  const band = (from: number, to: number): ScenarioEventRecord => ({
    type: "scenarioEvent",
    at: new Date(from * HOUR_MS).toISOString(),
    until: new Date(to * HOUR_MS).toISOString(),
    kind: "nodeLost",
    message: "lost",
  });
  const scenarioEvents = [band(0, 9), band(1, 9), band(2, 4), band(3, 5), band(4, 6), band(9, 10)];
  expect(timeBands({ ...generateReport(2, 1), scenarioEvents }).map(({ row }) => row)).toEqual([0, 1, 2, 2, 2, 0]);
});

test("ticks are at round local times of the zone, also across a clock change", () => {
  const zone = new ZonedTime("Europe/Berlin");
  const fromMs = Date.parse("2026-03-28T21:00:00Z");
  const { fine, coarse } = timeTicks({ fromMs, toMs: fromMs + 12 * HOUR_MS, width: 900 }, zone);
  expect(fine.map(({ atMs }) => zone.minute(atMs).slice(11))).toEqual(fine.map(({ label }) => label));
  expect(fine.map(({ label }) => label).slice(1, 5)).toEqual(["23:00", "00:00", "01:00", "03:00"]);
  expect(coarse.map(({ label }) => label)).toEqual(["Sat 28 March 2026", "Sun 29 March 2026"]);
  expect(zone.instant(Date.UTC(2026, 6, 1, 12))).toBe(Date.UTC(2026, 6, 1, 10));
  expect(zone.instant(Date.UTC(2026, 2, 29, 2, 30))).toBeUndefined();
  expect(zone.instant(Date.UTC(2026, 9, 25, 2, 30))).toBe(Date.UTC(2026, 9, 25, 0, 30));
});

test("a state survives a link round trip, and invalid links are ignored", () => {
  const initial: ViewState = {
    fromMs: 0,
    toMs: 1_000,
    cursorMs: undefined,
    selected: undefined,
    text: "",
    namespace: "",
    looks: new Set(),
    failedPods: false,
    collapsed: new Set(["a"]),
    zone: "UTC",
    view: "timeline",
    theme: "auto",
  };
  expect(toHash(initial, initial)).toBe("");
  const state: ViewState = {
    fromMs: 10,
    toMs: 20,
    cursorMs: 15,
    selected: "CronJob/default/x@15",
    text: "a b&c",
    namespace: "shop",
    looks: new Set(["failed", "skipped"]),
    failedPods: true,
    collapsed: new Set(["b"]),
    zone: "Europe/Berlin",
    view: "table",
    theme: "dark",
  };
  expect(fromHash(`#${toHash(state, initial)}`, initial, isZone)).toEqual(state);
  expect(fromHash("#range=9_3&zone=Mars&theme=x&outcome=y_z&cursor=soon&view=no", initial, isZone)).toEqual(initial);
});

test("JSON data reads as YAML", () => {
  const object = {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "x", labels: {}, annotations: { a: "yes", b: "1", c: "two\nlines", d: "- e", e: "x: y" } },
    spec: { args: [], list: ["a", { b: 1, c: [true, null] }], nested: [["x"]] },
  };
  expect(yamlText(object).trim()).toBe(`apiVersion: batch/v1
kind: Job
metadata:
  annotations:
    a: "yes"
    b: "1"
    c: "two\\nlines"
    d: "- e"
    e: "x: y"
  labels: {}
  name: x
spec:
  args: []
  list:
  - a
  - b: 1
    c:
    - true
    - null
  nested:
  - - x`);
});

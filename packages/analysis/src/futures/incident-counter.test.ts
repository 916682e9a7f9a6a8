import { expect, test } from "vitest";
import type { RunRow, SkippedRow, TimelineGroup } from "@kubewright/timeline/data";

import type { Incident } from "./incident.js";
import { IncidentCounter } from "./incident-counter.js";

const HOUR = 3_600_000;
const group = (kind: TimelineGroup["kind"] = "CronJob"): TimelineGroup => ({
  kind,
  uid: "u",
  namespace: "default",
  name: "report",
  rows: [],
  hiddenRows: 0,
});

function run(hour: number, changes: Partial<RunRow> = {}): RunRow {
  const slotMs = hour * HOUR;
  return {
    type: "run",
    name: `report-${hour}`,
    uid: `${hour}`,
    slotMs,
    createdMs: slotMs,
    startMs: slotMs,
    endMs: slotMs + 600_000,
    outcome: "Complete",
    succeeded: 1,
    failed: 0,
    pods: [],
    hiddenPods: 0,
    ...changes,
  };
}

function skipped(hour: number, cause: SkippedRow["cause"], unlisted?: number): SkippedRow {
  return {
    type: "skipped",
    slotMs: hour * HOUR,
    cause,
    reason: cause,
    ...(unlisted === undefined ? {} : { unlisted }),
  };
}

const ALL: readonly Incident[] = [
  { kind: "skipped" },
  { kind: "missed" },
  { kind: "failed" },
  { kind: "late" },
  { kind: "late", overMs: 300_000 },
  { kind: "overlap" },
  { kind: "unschedulable" },
  { kind: "never-finished" },
];

/** Counts the rows of one group. Each row settles before the next. */
function count(rows: readonly (RunRow | SkippedRow)[], of = group()): ReturnType<IncidentCounter["groups"]>[number] {
  const counter = new IncidentCounter(ALL);
  counter.groupAdded(of);
  for (const row of rows) {
    counter.rowAdded(of, row);
    if (row.type === "skipped" || row.outcome !== "Running") counter.rowSettled(of, row);
  }
  for (const row of rows) if (row.type === "run" && row.outcome === "Running") counter.rowSettled(of, row);
  return counter.groups(10 * HOUR)[0]!;
}

function counts(rows: Parameters<typeof count>[0], of?: TimelineGroup): Record<string, number> {
  return Object.fromEntries(Object.entries(count(rows, of).incidents).map(([key, each]) => [key, each.count]));
}

test("punctual, complete runs without overlap have no incidents", () => {
  const { incidents, slots, runs, durations } = count([run(1), run(2)]);
  expect(incidents).toEqual({});
  expect({ slots, runs, durations }).toEqual({ slots: 2, runs: 2, durations: [[600, 2]] });
});

test("a slot that Forbid held back is skipped and not missed; one past its deadline is both; each counts for its reason", () => {
  expect(counts([skipped(1, "stillActive"), skipped(2, "deadlinePassed", 4)])).toEqual({
    "skipped//0": 6,
    "skipped/stillActive/0": 1,
    "skipped/deadlinePassed/0": 5,
    "missed//0": 5,
  });
});

test("slots of a suspended CronJob, or one that is being deleted, do not count", () => {
  const { slots, incidents } = count([skipped(1, "suspended", 20), skipped(2, "beingDeleted"), run(3)]);
  expect({ slots, incidents }).toEqual({ slots: 1, incidents: {} });
});

test("lateness counts beyond its bound, and the worst is reported", () => {
  const { incidents } = count([run(1, { createdMs: HOUR + 60_000 }), run(2, { createdMs: 2 * HOUR + 400_000 })]);
  expect(incidents["late//0"]).toMatchObject({ count: 2, severity: 400_000, atMs: 2 * HOUR });
  expect(incidents["late//300000"]).toMatchObject({ count: 1, text: "report-2 started 6m40s late" });
});

test("a failure has its reason, and an overlap names the run", () => {
  const { incidents } = count([run(1, { outcome: "Failed", reason: "BackoffLimitExceeded", message: "too often" })]);
  expect(incidents["failed//0"]).toMatchObject({ count: 1, text: "report-1 failed: BackoffLimitExceeded: too often" });
  const open: Partial<RunRow> = { outcome: "Running", startMs: 9 * HOUR };
  expect(counts([run(8, open), run(9, open)])["overlap//0"]).toBe(1);
});

test("a run counts as never finished when a later slot came and it took longer than any other run", () => {
  const { endMs: _, ...open } = run(2, { outcome: "Running" });
  expect(counts([run(1), open, run(3)])["never-finished//0"]).toBe(1);
  expect(counts([run(1), open])["never-finished//0"]).toBeUndefined();
  expect(counts([run(1, { endMs: 20 * HOUR }), open, run(3)])["never-finished//0"]).toBeUndefined();
  expect(counts([open], group("Job"))["never-finished//0"]).toBe(1);
});

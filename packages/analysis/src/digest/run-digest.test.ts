import { expect, test } from "vitest";
import type { RunRow, SkippedRow, TimelineGroup } from "@kubewright/timeline/data";

import { styleFor } from "../text/style.js";
import { timelineText } from "../text/timeline-text.js";
import { Durations } from "./durations.js";
import { RunDigest } from "./run-digest.js";
import { summaryBlock } from "./summary-text.js";

const START = Date.parse("2026-01-01T00:00:00Z");
const MINUTE = 60_000;
const style = styleFor(false);

const group: TimelineGroup = {
  kind: "CronJob",
  uid: "cron",
  namespace: "default",
  name: "report",
  cronJob: { schedule: "* * * * *", active: [] },
  rows: [],
  hiddenRows: 0,
};

function run(minute: number, facts: Partial<RunRow> = {}): RunRow {
  const slotMs = START + minute * MINUTE;
  return {
    type: "run",
    name: `report-${minute}`,
    uid: `uid-${minute}`,
    createdMs: slotMs,
    slotMs,
    endMs: slotMs + 10_000,
    outcome: "Complete",
    succeeded: 1,
    failed: 0,
    pods: [],
    hiddenPods: 0,
    ...facts,
  };
}

const failed = { outcome: "Failed", reason: "BackoffLimitExceeded", succeeded: 0 } as const;

function digestOf(rows: readonly (RunRow | SkippedRow)[]): RunDigest {
  const digest = new RunDigest();
  digest.groupAdded(group);
  for (const row of rows) {
    digest.rowAdded(group, row);
    digest.rowSettled(group, row);
  }
  return digest;
}

function linesOf(digest: RunDigest, minutes: number): string[] {
  const text = timelineText(digest.groups, { startMs: START, endMs: START + minutes * MINUTE, width: 100, style });
  return text.trimEnd().split("\n").slice(2);
}

test("a few identical runs are listed, and the others counted", () => {
  const lines = linesOf(digestOf(Array.from({ length: 20 }, (_, minute) => run(minute))), 20);
  expect(lines).toHaveLength(4);
  expect(lines[3]).toBe("  … 17 more until 01-01 00:19, all Complete in 10s");
});

test("a failure after ten thousand runs is listed, and the runs around it are counted", () => {
  const rows = Array.from({ length: 10_000 }, (_, minute) => run(minute, minute === 9_990 ? failed : {}));
  const lines = linesOf(digestOf(rows), 10_000);
  expect(lines.slice(3)).toEqual([
    "  … 9,987 more until 01-07 22:29, all Complete in 10s",
    expect.stringMatching(/^ {2}01-07 22:30 .*Failed after 10s: BackoffLimitExceeded$/),
    "  … 9 more until 01-07 22:39, all Complete in 10s",
  ]);
});

test("a thousand skipped runs neither displace a failure nor are all listed", () => {
  const rows = Array.from({ length: 2_000 }, (_, minute): RunRow | SkippedRow =>
    minute === 1_990
      ? run(minute, failed)
      : minute % 2 === 0
        ? {
            type: "skipped",
            slotMs: START + minute * MINUTE,
            cause: "stillActive",
            reason: `report-${minute - 1} still active`,
          }
        : run(minute),
  );
  const digest = digestOf(rows);
  expect(digest.groups[0]!.rows.length).toBeLessThan(60);
  const lines = linesOf(digest, 2_000);
  expect(lines.filter((line) => line.includes("Failed after"))).toHaveLength(1);
  expect(lines.filter((line) => line.includes("×"))).toHaveLength(20);
  expect(lines.join("\n")).toMatch(
    /… [\d,]+ more until .*: \d+ Complete in 10s, \d+ skipped \(the last run is still active \(Forbid\)\)/,
  );
});

test("a run that ends after later runs joins the fold around it", () => {
  const digest = new RunDigest();
  digest.groupAdded(group);
  const slow = run(30);
  for (let minute = 0; minute < 60; minute++) {
    const row = minute === 30 ? slow : run(minute);
    digest.rowAdded(group, row);
    if (row !== slow) digest.rowSettled(group, row);
  }
  expect(digest.groups[0]!.rows).toHaveLength(6);
  digest.rowSettled(group, slow);
  expect(digest.groups[0]!.rows).toHaveLength(4);
  expect(linesOf(digest, 60).at(-1)).toBe("  … 57 more until 01-01 00:59, all Complete in 10s");
});

test("a run that is far longer than the others, or late, has its own row", () => {
  const rows = Array.from({ length: 100 }, (_, minute) => run(minute));
  const long = run(100, { endMs: START + 110 * MINUTE });
  const late = run(101, { createdMs: START + 104 * MINUTE, endMs: START + 105 * MINUTE });
  const lines = linesOf(digestOf([...rows, long, late]), 120);
  expect(lines.at(-2)).toMatch(/Complete in 10m \(1 ok\)$/);
  expect(lines.at(-1)).toMatch(/started 3m late$/);
});

test("the summary lists highlights, the worst first, and the results of each CronJob", () => {
  const rows = [
    ...Array.from({ length: 40 }, (_, minute) => run(minute)),
    run(40, failed),
    { type: "skipped", slotMs: START + 41 * MINUTE, cause: "stillActive", reason: "report-40 still active" } as const,
    run(42, { createdMs: START + 44 * MINUTE, endMs: START + 45 * MINUTE }),
  ];
  const text = summaryBlock(digestOf(rows).groups, { startMs: START, width: 100, style });
  expect(text.split("\n").slice(0, 2)).toEqual([
    "CronJob         runs  ok  failed  skipped  late by  p50  p95  longest",
    "default/report    42  41       1        1       2m  10s  10s       1m",
  ]);
  expect(text.split("\n").filter((line) => line.startsWith("  default/report"))).toEqual([
    "  default/report: 1 of 42 runs failed: BackoffLimitExceeded; Thu 2026-01-01 00:40 UTC",
    "  default/report: 1 run skipped: report-40 still active; Thu 2026-01-01 00:41 UTC",
    "  default/report: 1 run started late, by 2m at most; Thu 2026-01-01 00:42 UTC",
  ]);
});

test("a narrow terminal has fewer columns and shorter names, and no line is too long", () => {
  const digest = digestOf([run(0), run(1, failed)]);
  const long = { ...group, name: "a-name-that-is-far-too-long-for-a-narrow-terminal-or-a-table" };
  digest.groupAdded(long);
  for (const width of [40, 60, 80]) {
    const lines = summaryBlock(digest.groups, { startMs: START, width, style }).split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
    expect(lines[0]).toMatch(/^CronJob +runs +ok +failed/);
  }
});

test("a schedule that matches no date is the first highlight", () => {
  const digest = new RunDigest();
  digest.groupAdded({ ...group, cronJob: { schedule: "0 0 31 2 *", active: [] } });
  const text = summaryBlock(digest.groups, { startMs: START, width: 100, style });
  expect(text).toContain('"0 0 31 2 *" runs never: no run within five years of 2026-01-01T00:00:00Z');
  expect(linesOf(digest, 60)).toEqual(["  never: no run within five years of 2026-01-01T00:00:00Z"]);
});

test("quantiles are right within half a percent, in bounded room", () => {
  const durations = new Durations();
  for (let seconds = 1; seconds <= 100_000; seconds++) durations.add(seconds * 1000);
  for (const [share, expected] of [
    [0.5, 50_000_000],
    [0.95, 95_000_000],
  ] as const)
    expect(Math.abs(durations.quantile(share)! / expected - 1)).toBeLessThan(0.005);
  expect(new Durations().quantile(0.5)).toBeUndefined();
});

import { expect, test } from "vitest";

import type { GroupComparison, RunDifference } from "./compare-runs.js";
import { foldDifferences } from "./fold-differences.js";

const HOUR = 3_600_000;
const NONE = { a: 0, b: 0, same: 0, different: 0, onlyA: 0, onlyB: 0 };
const group = (differences: readonly RunDifference[], timeZone = "UTC"): GroupComparison => ({
  kind: "CronJob",
  namespace: "default",
  name: "report",
  presentIn: "both",
  timeZone,
  counts: NONE,
  differences,
});
const onlyA = (slotMs: number): RunDifference => ({
  type: "onlyA",
  slotMs,
  a: { slotMs, outcome: "Complete", createdMs: slotMs, endMs: slotMs + 300_000, failedPods: 0 },
  absent: "notScheduled",
});
const skipped = (slotMs: number): RunDifference => ({
  type: "different",
  slotMs,
  a: { slotMs, outcome: "Complete", createdMs: slotMs, endMs: slotMs + 300_000, failedPods: 0 },
  b: { slotMs, outcome: "Skipped", skipped: "stillActive", blockedBy: [`report-${slotMs / 60_000}`], failedPods: 0 },
});

test("equal differences are one line, with their number and their interval", () => {
  const slots = Array.from({ length: 83 }, (_, index) => (2 * index + 1) * HOUR);
  expect(foldDifferences(group(slots.map(onlyA)))).toEqual([
    {
      type: "onlyA",
      slotMs: HOUR,
      a: "Complete in 5m",
      b: "not scheduled",
      repeated: { count: 83, lastMs: 165 * HOUR, every: "every second hour" },
    },
  ]);
});

test("differences that alternate are one line each, and names of Jobs do not matter", () => {
  const all = Array.from({ length: 20 }, (_, hour) => (hour % 2 === 0 ? onlyA : skipped)(hour * HOUR));
  expect(foldDifferences(group(all)).map(({ b, repeated }) => [b, repeated?.count, repeated?.every])).toEqual([
    ["not scheduled", 10, "every second hour"],
    ["skipped: an earlier run still active (Forbid)", 10, "every second hour"],
  ]);
});

test("runs that start later and later by seconds are one line", () => {
  const late = (slotMs: number, lateMs: number): RunDifference => ({
    type: "different",
    slotMs,
    a: { slotMs, outcome: "Complete", createdMs: slotMs, endMs: slotMs + 60_000, failedPods: 0 },
    b: { slotMs, outcome: "Complete", createdMs: slotMs + lateMs, endMs: slotMs + lateMs + 60_000, failedPods: 0 },
  });
  const all = [0, 1, 2, 3].flatMap((day) => [
    late(day * 24 * HOUR, day * 1_000 + 1_000),
    late((day * 24 + 1) * HOUR, 1_200_000 + day * 1_000),
  ]);
  expect(foldDifferences(group(all)).map(({ a, b, repeated }) => [a, b, repeated?.every])).toEqual([
    ["Complete in 1m", "Complete in 1m, started less than a minute late", "every day"],
    ["Complete in 1m", "Complete in 1m, started about 20m late", "every day"],
  ]);
});

test("two equal differences stay two lines, and uneven intervals are not stated", () => {
  expect(foldDifferences(group([onlyA(0), onlyA(HOUR)])).map(({ repeated }) => repeated)).toEqual([
    undefined,
    undefined,
  ]);
  const [line] = foldDifferences(group([0, 1, 3].map((hour) => onlyA(hour * HOUR))));
  expect(line!.repeated).toEqual({ count: 3, lastMs: 3 * HOUR });
});

test("a day is a day of the local time zone, also where clocks change", () => {
  const slots = ["2026-03-28T02:00:00Z", "2026-03-29T01:00:00Z", "2026-03-30T01:00:00Z"].map((time) =>
    Date.parse(time),
  );
  const [line] = foldDifferences(group(slots.map(onlyA), "Europe/Berlin"));
  expect(line!.repeated?.every).toBe("every day");
});

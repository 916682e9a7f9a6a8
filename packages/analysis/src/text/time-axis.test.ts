import { expect, test } from "vitest";

import { TimeAxis } from "./time-axis.js";

const START = Date.parse("2026-01-01T00:00:00Z");
const HOUR = 3_600_000;

test("instants fall into cells in proportion, and never outside the axis", () => {
  const axis = new TimeAxis(START, START + 24 * HOUR, 24);
  expect(axis.column(START)).toBe(0);
  expect(axis.column(START + 5 * HOUR)).toBe(5);
  expect(axis.column(START + 24 * HOUR)).toBe(23);
  expect(axis.column(START - HOUR)).toBe(0);
});

test("labels are at their instants and do not touch", () => {
  const axis = new TimeAxis(START, START + 24 * HOUR, 72);
  const labels = axis.labels();
  expect(labels.length).toBeLessThanOrEqual(72);
  for (const [hours, label] of [
    [6, "06:00"],
    [12, "12:00"],
    [18, "18:00"],
  ] as const) {
    expect(labels.indexOf(label)).toBe(axis.column(START + hours * HOUR));
  }
  expect(labels).not.toMatch(/\d{2}:\d{2}\d/);
});

test("a short window is labelled in seconds, a long one in dates", () => {
  expect(new TimeAxis(START, START + 60_000, 60).labels()).toContain("00:00:10");
  expect(new TimeAxis(START, START + 365 * 24 * HOUR, 60).labels()).toContain("04-02");
});

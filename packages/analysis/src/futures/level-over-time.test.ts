import { expect, test } from "vitest";

import { LevelOverTime } from "./level-over-time.js";

const HOUR_MS = 3_600_000;

test("each level counts for its duration, and 0 is a level", () => {
  const level = new LevelOverTime(0);
  level.change(3, 90 * HOUR_MS);
  level.change(4, 96 * HOUR_MS);
  level.change(-7, 97 * HOUR_MS);
  expect(level.max).toBe(7);
  const quantile = (share: number): number => level.quantile(share, 100 * HOUR_MS);
  expect([0.5, 0.93, 0.931, 0.95, 0.99, 0.991, 1].map(quantile)).toEqual([0, 0, 3, 3, 3, 7, 7]);
});

test("a level with no duration counts only for the maximum", () => {
  const level = new LevelOverTime(0);
  level.change(5, 1000);
  level.change(-5, 1000);
  expect([level.max, level.quantile(1, 2000)]).toEqual([5, 0]);
});

test("large levels are rounded up by at most a thousandth, and never above the maximum", () => {
  const level = new LevelOverTime(0);
  for (let step = 1; step <= 100_000; step++) level.change(1_234_567, step);
  const median = level.quantile(0.5, 100_000);
  expect(median).toBeGreaterThanOrEqual(49_999 * 1_234_567);
  expect(median).toBeLessThan(49_999 * 1_234_567 * 1.001);
  expect(level.quantile(1, 100_001)).toBe(level.max);
});

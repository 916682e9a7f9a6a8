import { expect, test } from "vitest";

import { Durations } from "./durations.js";

test("no quantile is longer than the longest duration, however it is rounded", () => {
  const durations = new Durations();
  for (const ms of [1_000_000, 2_026_000]) durations.add(ms);
  expect(durations.quantile(0.95)).toBe(2_026_000);
  expect(durations.quantile(0.5)).toBe(1_000_000);
  expect(new Durations().quantile(0.5)).toBeUndefined();
});

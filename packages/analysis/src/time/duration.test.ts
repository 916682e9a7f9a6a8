import { expect, test } from "vitest";

import { formatDuration, parseDuration } from "./duration.js";

test.each([
  ["30d", 30 * 86_400_000],
  ["1d12h", 36 * 3_600_000],
  ["90m", 5_400_000],
  ["1.5h", 5_400_000],
  ["250ms", 250],
  ["2w", 14 * 86_400_000],
])("%s is %i ms", (text, durationMs) => {
  expect(parseDuration(text, "--for")).toBe(durationMs);
});

test.each(["", "30", "d", "30x", "1h 30m", "-1h", "1hour"])("%j is refused, naming the option", (text) => {
  expect(() => parseDuration(text, "--for")).toThrow(`--for: ${JSON.stringify(text)} is not a duration`);
});

test.each([
  [250, "250ms"],
  [45_000, "45s"],
  [60_000, "1m"],
  [245_000, "4m5s"],
  [36 * 3_600_000, "1d12h"],
  [86_400_000 + 60_000, "1d"],
])("%i ms prints as %s", (durationMs, text) => {
  expect(formatDuration(durationMs)).toBe(text);
});

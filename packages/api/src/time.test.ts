import { expect, test } from "vitest";

import { formatMicroTime, formatTime, parseTime } from "./time.js";

test("API times have whole seconds, the fraction cut off", () => {
  expect(formatTime(Date.parse("2026-01-02T03:04:05.999Z"))).toBe("2026-01-02T03:04:05Z");
});

test("micro times have exactly six digits", () => {
  const epochMs = Date.parse("2026-01-02T03:04:05.078Z");
  expect(formatMicroTime(epochMs)).toBe("2026-01-02T03:04:05.078000Z");
  expect(formatMicroTime(epochMs + 0.5)).toBe("2026-01-02T03:04:05.078500Z");
});

test("parsing gives epoch milliseconds, and undefined for what is absent or unreadable", () => {
  expect(parseTime("2026-01-02T04:04:05+01:00")).toBe(Date.parse("2026-01-02T03:04:05Z"));
  expect(parseTime(undefined)).toBeUndefined();
  expect(parseTime(null)).toBeUndefined();
  expect(parseTime("soon")).toBeUndefined();
});

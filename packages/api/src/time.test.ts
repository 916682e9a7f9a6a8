import { expect, test } from "vitest";

import { compareTimes, formatMicroTime, formatTime, parseTime, secondsAsDurationMs } from "./time.js";

test("API times have whole seconds, the fraction cut off", () => {
  expect(formatTime(Date.parse("2026-01-02T03:04:05.999Z"))).toBe("2026-01-02T03:04:05Z");
});

test.each([
  "1000-01-01T00:00:00Z",
  "1969-12-31T23:59:59Z",
  "1970-01-01T00:00:00Z",
  "2000-02-29T12:34:56Z",
  "2019-10-09T08:07:06Z",
  "2100-03-01T23:59:59Z",
  "9999-12-31T23:59:59Z",
])("the API time %s is written as it is read", (text) => {
  expect(formatTime(Date.parse(text))).toBe(text);
});

test("years beyond four digits are written as JavaScript does", () => {
  expect(formatTime(Date.parse("0999-12-31T23:59:59Z"))).toBe("0999-12-31T23:59:59Z");
  expect(formatTime(Date.parse("+010000-01-01T00:00:00Z"))).toBe("+010000-01-01T00:00:00Z");
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

test.each([
  [0, 0],
  [30, 30_000],
  [-30, -30_000],
  [9_223_372_036, 9_223_372_036_000],
  [9_223_372_037, Number(-9_223_372_036_709_551_616n) / 1_000_000],
  [-9_223_372_037, Number(9_223_372_036_709_551_616n) / 1_000_000],
  [20_000_000_000, Number(1_553_255_926_290_448_384n) / 1_000_000],
  [2 ** 54, -(2 ** 63) / 1_000_000],
  [2 ** 62, 0],
])("%d s are %d ms to a controller that counts 64-bit nanoseconds", (seconds, expected) => {
  expect(secondsAsDurationMs(seconds)).toBe(expected);
});

test("times compare by when they are, and one that is absent comes last", () => {
  const times = [undefined, "2026-01-01T00:00:01Z", null, "2026-01-01T00:00:00Z", ""];
  expect(times.toSorted(compareTimes).slice(0, 2)).toEqual(["2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"]);
  expect(compareTimes("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z")).toBe(0);
  expect(compareTimes(undefined, null)).toBe(0);
});

import { expect, test } from "vitest";

import { TimeWindows } from "./time-windows.js";

const HOUR_MS = 3_600_000;
const MIB = 2 ** 20;

function lengthsOf(windows: TimeWindows, bytesOf: (index: number) => number): number[] {
  const lengths: number[] = [];
  for (let index = 0; index < windows.count; index++) {
    lengths.push((windows.endMs(index) - windows.endMs(index - 1)) / HOUR_MS);
    windows.completed(bytesOf(index));
  }
  return lengths;
}

test("time windows grow to 16 hours while output is small, and the last ends with the simulation", () => {
  expect(lengthsOf(new TimeWindows(60 * HOUR_MS + 1), () => 0)).toEqual([1, 2, 4, 8, 16, 16, 13 + 1 / 3_600_000]);
});

test("time windows keep their length between 1 and 4 MiB, and are halved above, down to an hour", () => {
  const bytes = [0, 0, 0, MIB, 4 * MIB, 5 * MIB, 5 * MIB, 5 * MIB, 5 * MIB, 5 * MIB];
  const lengths = lengthsOf(new TimeWindows(1000 * HOUR_MS), (index) => bytes[index] ?? MIB);
  expect(lengths.slice(0, 12)).toEqual([1, 2, 4, 8, 8, 8, 4, 2, 1, 1, 1, 1]);
});

test("after a stop, the last requested time window is the last", () => {
  const windows = new TimeWindows(1000 * HOUR_MS);
  expect([windows.endMs(0), windows.endMs(1)]).toEqual([HOUR_MS, 2 * HOUR_MS]);
  windows.stop();
  expect(windows.count).toBe(2);
  expect(new TimeWindows(0).count).toBe(0);
});

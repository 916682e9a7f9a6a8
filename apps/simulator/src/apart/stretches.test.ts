import { expect, test } from "vitest";

import { Stretches } from "./stretches.js";

const HOUR_MS = 3_600_000;
const MIB = 2 ** 20;

function lengthsOf(stretches: Stretches, bytesOf: (index: number) => number): number[] {
  const lengths: number[] = [];
  for (let index = 0; index < stretches.count; index++) {
    lengths.push((stretches.endMs(index) - stretches.endMs(index - 1)) / HOUR_MS);
    stretches.taken(bytesOf(index));
  }
  return lengths;
}

test("stretches grow to 16 hours while little is told, and the last ends with the window", () => {
  expect(lengthsOf(new Stretches(60 * HOUR_MS + 1), () => 0)).toEqual([1, 2, 4, 8, 16, 16, 13 + 1 / 3_600_000]);
});

test("they stay as they are between 1 and 4 MiB, and are halved beyond, down to an hour", () => {
  const told = [0, 0, 0, MIB, 4 * MIB, 5 * MIB, 5 * MIB, 5 * MIB, 5 * MIB, 5 * MIB];
  const lengths = lengthsOf(new Stretches(1000 * HOUR_MS), (index) => told[index] ?? MIB);
  expect(lengths.slice(0, 12)).toEqual([1, 2, 4, 8, 8, 8, 4, 2, 1, 1, 1, 1]);
});

test("a stop ends them with the last that anybody was told of", () => {
  const stretches = new Stretches(1000 * HOUR_MS);
  expect([stretches.endMs(0), stretches.endMs(1)]).toEqual([HOUR_MS, 2 * HOUR_MS]);
  stretches.stop();
  expect(stretches.count).toBe(2);
  expect(new Stretches(0).count).toBe(0);
});

import { expect, test } from "vitest";

import { countSeeds, parseSeeds } from "./seeds.js";

test("a range, a number of seeds and a single seed", () => {
  expect(parseSeeds("11-1000")).toEqual({ first: 11, last: 1000 });
  expect(parseSeeds("5")).toEqual({ first: 1, last: 5 });
  expect(parseSeeds("7-7")).toEqual({ first: 7, last: 7 });
  expect(countSeeds(parseSeeds("0-4"))).toBe(5);
});

test.each(["", "a", "0", "1-", "-1", "5-3", "1..3", "1-5000000000", "1.5-2"])(
  "%j is refused with an example",
  (text) => {
    expect(() => parseSeeds(text)).toThrow(/--seeds: .* write for example 1-1000/);
  },
);

test("a million are the most", () => {
  expect(countSeeds(parseSeeds("1-1000000"))).toBe(1_000_000);
  expect(() => parseSeeds("1-1000001")).toThrow("--seeds: 1-1000001 are 1,000,001 seeds; the most is 1,000,000");
});

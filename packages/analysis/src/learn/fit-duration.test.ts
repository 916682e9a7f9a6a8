import { seededRandom } from "@kubewright/clock";
import { type DurationSpread, drawDuration, parseDurationRange } from "@kubewright/cluster/kubelet";
import { array, assert, integer, property } from "fast-check";
import { expect, test } from "vitest";

import { fitDuration } from "./fit-duration.js";

const S = 1000;
const M = 60 * S;
const drawn = (text: string, count: number, seed = 1): number[] => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, (_, index) => drawDuration(parseDurationRange(text)!, random.fork(`${index}`)));
};
const spreadOf = (text: string): DurationSpread => parseDurationRange(fitDuration(drawn(text, 2_000)))!.spread!;

test.each([
  ["one", [90 * S], "1m30s"],
  ["all the same", Array.from({ length: 20 }, () => 65 * M), "1h5m"],
  ["less than the API's resolution", [0, 0, 0], "0.5s"],
  ["few", [7 * M, 5 * M, 6 * M], "5m..7m"],
  ["few, and one of them short", [0, 3600 * S], "0.5s..1h"],
  [
    "many that lie evenly around their middle",
    [60, 61, 62, 63, 64, 65, 66, 67].map((seconds) => seconds * S),
    "normal(1m4s, 2.291s) in 1m..1m7s",
  ],
  [
    "many, with a long tail",
    [1, 1, 2, 2, 2, 4, 4, 8].map((minutes) => minutes * M),
    "lognormal(2m23s, 0.671) in 1m..8m",
  ],
])("%s", (_title, durations, expected) => {
  expect(fitDuration(durations)).toBe(expected);
});

test("a lognormal distribution is learned from what was drawn from it", () => {
  const spread = spreadOf("lognormal(10m, 0.5)");
  if (spread.type !== "lognormal") throw new Error(spread.type);
  expect(spread.medianMs / (10 * M)).toBeCloseTo(1, 1);
  expect(spread.sigma).toBeCloseTo(0.5, 1);
});

test("a normal distribution is learned from what was drawn from it", () => {
  const spread = spreadOf("normal(10m, 3m) in 1s..1h");
  if (spread.type !== "normal") throw new Error(spread.type);
  expect(spread.meanMs / (10 * M)).toBeCloseTo(1, 1);
  expect(spread.deviationMs / (3 * M)).toBeCloseTo(1, 1);
});

test("for any observations, the learned duration can be parsed, and samples stay close to them", () => {
  const lengths = array(integer({ min: 0, max: 400 * 24 * 60 * M }), { minLength: 1, maxLength: 30 });
  assert(
    property(lengths, integer(), (durations, seed) => {
      const text = fitDuration(durations);
      const range = parseDurationRange(text);
      expect(range, text).toBeDefined();
      const duration = drawDuration(range!, seededRandom(seed));
      // Half a second at the short end, and half a second of rounding.
      expect(duration).toBeGreaterThanOrEqual(Math.min(...durations) - 500);
      expect(duration).toBeLessThanOrEqual(Math.max(500, ...durations) + 500);
    }),
  );
});

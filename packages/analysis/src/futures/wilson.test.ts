import { seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";

import { wilson } from "./wilson.js";

test.each([
  [0, 10, 0, 0.277533],
  [5, 10, 0.236593, 0.763407],
  [10, 10, 0.722467, 1],
  [1, 1000, 0.000177, 0.005642],
  [12, 40, 0.180748, 0.454298],
])("%i of %i lies between %f and %f, as tables of Wilson's interval say", (hits, trials, low, high) => {
  const interval = wilson(hits, trials)!;
  expect(interval.share).toBe(hits / trials);
  expect(interval.low).toBeCloseTo(low, 5);
  expect(interval.high).toBeCloseTo(high, 5);
});

test("there is no share without trials", () => expect(wilson(0, 0)).toBeUndefined());

test("over many repetitions the interval holds the true share 95 times in a hundred, also of what is rare", () => {
  const random = seededRandom(1);
  const repetitions = 4_000;
  for (const [truth, trials] of [
    [0.5, 40],
    [0.1, 100],
    [0.03, 400],
    [0.01, 1_000],
  ] as const) {
    let held = 0;
    for (let repetition = 0; repetition < repetitions; repetition++) {
      let hits = 0;
      for (let trial = 0; trial < trials; trial++) if (random.next() < truth) hits++;
      const { low, high } = wilson(hits, trials)!;
      if (low <= truth && truth <= high) held++;
    }
    const coverage = held / repetitions;
    // With few hits the interval changes in steps, so its coverage is slightly above or below 95 %.
    expect(coverage, `${truth} of ${trials}`).toBeGreaterThan(0.93);
    expect(coverage, `${truth} of ${trials}`).toBeLessThan(0.98);
  }
});

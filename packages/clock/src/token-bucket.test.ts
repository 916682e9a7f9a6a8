import { expect, test } from "vitest";

import { SimulatedClock } from "./simulated-clock.js";
import { TokenBucket } from "./token-bucket.js";

test("reserve is free within the burst and then spaced by the rate", () => {
  const bucket = new TokenBucket({ clock: new SimulatedClock(), perSecond: 10, burst: 100 });
  const waits = Array.from({ length: 103 }, () => bucket.reserve());
  expect(waits.slice(0, 100).every((waitMs) => waitMs === 0)).toBe(true);
  expect(waits.slice(100)).toEqual([100, 200, 300]);
});

test("tokens come back with time, up to the burst", async () => {
  const clock = new SimulatedClock();
  const bucket = new TokenBucket({ clock, perSecond: 1, burst: 2 });
  expect([bucket.tryTake(), bucket.tryTake(), bucket.tryTake()]).toEqual([true, true, false]);
  await clock.advance(1_000);
  expect([bucket.tryTake(), bucket.tryTake()]).toEqual([true, false]);
  await clock.advance(60_000);
  expect([bucket.tryTake(), bucket.tryTake(), bucket.tryTake()]).toEqual([true, true, false]);
});

test("a token given back can be taken again", () => {
  const bucket = new TokenBucket({ clock: new SimulatedClock(), perSecond: 1, burst: 1 });
  bucket.reserve();
  expect(bucket.reserve()).toBe(1_000);
  bucket.giveBack();
  expect(bucket.reserve()).toBe(1_000);
});

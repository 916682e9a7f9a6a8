import { expect, test } from "vitest";

import { ScaledClock } from "./scaled-clock.js";
import { SimulatedClock } from "./simulated-clock.js";

test("time passes as many times as fast as asked, from the moment the clock is made", async () => {
  const base = new SimulatedClock("2026-01-01T00:00:00Z");
  await base.advance(5_000);
  const clock = new ScaledClock(base, 60);
  expect(clock.now()).toBe(base.now());
  await base.advance(1_000);
  expect(clock.now()).toBe(Date.parse("2026-01-01T00:01:05Z"));
  expect(clock.monotonic()).toBe(60_000);
});

test("timers and sleeps are as much shorter", async () => {
  const base = new SimulatedClock();
  const clock = new ScaledClock(base, 60);
  const fired: string[] = [];
  clock.setTimer(30_000, () => fired.push(`timer@${base.monotonic()}`));
  void clock.sleep(60_000).then(() => fired.push(`sleep@${base.monotonic()}`));
  await base.advance(1_000);
  expect(fired).toEqual(["timer@500", "sleep@1000"]);
});

test.each([0, -1, Number.NaN, Infinity])("a factor of %d is refused", (factor) => {
  expect(() => new ScaledClock(new SimulatedClock(), factor)).toThrow(RangeError);
});

test("it begins at the given time, independent of the other clock's time", () => {
  const other = new SimulatedClock("2026-01-01T00:00:00Z");
  const clock = new ScaledClock(other, 60, Date.parse("2030-01-01T00:00:00Z"));
  expect(clock.now()).toBe(Date.parse("2030-01-01T00:00:00Z"));
  expect(clock.monotonic()).toBe(0);
});

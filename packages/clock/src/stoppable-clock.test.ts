import { expect, test } from "vitest";

import { SimulatedClock } from "./simulated-clock.js";
import { StoppableClock } from "./stoppable-clock.js";

test("its timers fire with the other clock's, until it is stopped", async () => {
  const other = new SimulatedClock("2026-01-01T00:00:00Z");
  const clock = new StoppableClock(other);
  const fired: string[] = [];
  clock.setTimer(1000, () => fired.push("first"));
  clock.setTimer(1000, () => fired.push("cancelled")).cancel();
  clock.setTimer(3000, () => fired.push("after the stop"));
  void clock.sleep(3000).then(() => fired.push("woken after the stop"));
  clock.keepAlive();
  const end = clock.keepAlive();
  end();
  expect(other.keepAliveCount).toBe(1);
  await other.advance(2000);
  clock.stop();
  clock.setTimer(0, () => fired.push("set after the stop"));
  clock.keepAlive();
  expect(other.pendingTimers).toBe(0);
  expect(other.keepAliveCount).toBe(0);
  await other.advance(5000);
  expect(fired).toEqual(["first"]);
  expect(clock.now()).toBe(other.now());
  expect(clock.monotonic()).toBe(7000);
});

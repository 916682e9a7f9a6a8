import { expect, it } from "vitest";

import { History, START_MS } from "../../test/history.js";
import { ControllerClock } from "./controller-clock.js";

it("adds up the clock errors of controllers, for the duration of each scenario event", () => {
  const ahead = (by: string) => ({ at: "1m", for: "5m", clockSkew: { controllerManager: "a", by } });
  const clock = new ControllerClock(new History([], { events: [ahead("+3s"), ahead("-1m"), ahead("+4s")] }));
  const happen = (index: number, phase: "begin" | "end"): number => {
    clock.onScenarioEvent({ atMs: START_MS, kind: "clockSkew", phase, index });
    return clock.latestMs - START_MS;
  };
  expect(happen(0, "begin")).toBe(3000);
  expect(happen(1, "begin")).toBe(0);
  expect(happen(1, "end")).toBe(3000);
  expect(happen(2, "begin")).toBe(7000);
  expect(happen(0, "end")).toBe(4000);
  expect(happen(2, "end")).toBe(0);
});

it("returns the latest time that they showed until they were set back", () => {
  const history = new History([], { events: [{ at: "1m", clockJump: "-1h" }] });
  const clock = new ControllerClock(history);
  history.pass(60_000);
  clock.onScenarioEvent({ atMs: history.nowMs, kind: "clockJump", phase: "begin", index: 0 });
  history.pass(1_000);
  expect(clock.latestSince(START_MS + 59_000) - START_MS).toBe(60_000);
  expect(clock.latestSince(START_MS + 61_000) - START_MS).toBe(61_000 - 3_600_000);
});

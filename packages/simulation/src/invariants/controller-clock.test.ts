import { expect, it } from "vitest";

import { History, START_MS } from "../../test/history.js";
import { ControllerClock } from "./controller-clock.js";

it("adds up how wrong the clocks of controllers are, as long as each happening lasts", () => {
  const ahead = (by: string) => ({ at: "1m", for: "5m", clockSkew: { controllerManager: "a", by } });
  const clock = new ControllerClock(new History([], { happenings: [ahead("+3s"), ahead("-1m"), ahead("+4s")] }));
  const happen = (index: number, phase: "begin" | "end"): number => {
    clock.onHappening({ atMs: START_MS, kind: "clockSkew", phase, index });
    return clock.latestMs - START_MS;
  };
  expect(happen(0, "begin")).toBe(3000);
  expect(happen(1, "begin")).toBe(0);
  expect(happen(1, "end")).toBe(3000);
  expect(happen(2, "begin")).toBe(7000);
  expect(happen(0, "end")).toBe(4000);
  expect(happen(2, "end")).toBe(0);
});

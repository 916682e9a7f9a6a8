import { expect, test } from "vitest";

import { type BackOff, lengthen, restartDelayMs } from "./crash-loop-back-off.js";

test("restarts wait 0, 10, 20, 40, 80, 160, 300, 300 seconds", () => {
  const delays: number[] = [];
  let backOff: BackOff | undefined;
  let nowMs = 0;
  for (let restart = 0; restart < 8; restart++) {
    const exitedAtMs = nowMs + 1000;
    const delayMs = restartDelayMs(backOff, exitedAtMs);
    delays.push(delayMs / 1000);
    nowMs = exitedAtMs + delayMs;
    backOff = lengthen(backOff, exitedAtMs, nowMs);
  }
  expect(delays).toEqual([0, 10, 20, 40, 80, 160, 300, 300]);
});

test("containers that ran for more than ten minutes begin again at no wait", () => {
  const backOff = { delayMs: 160_000, sinceMs: 0 };
  expect(restartDelayMs(backOff, 600_000)).toBe(160_000);
  expect(restartDelayMs(backOff, 600_001)).toBe(0);
  expect(lengthen(backOff, 600_001, 600_001)).toEqual({ delayMs: 10_000, sinceMs: 600_001 });
});

import { expect, test } from "vitest";

import { realClock } from "./real-clock.js";
import { ScaledClock } from "./scaled-clock.js";

test("sleep lasts at least as long as asked by the monotonic clock", async () => {
  const before = realClock.monotonic();
  await realClock.sleep(15);
  expect(realClock.monotonic() - before).toBeGreaterThanOrEqual(15);
});

test("a delay longer than the runtime's timers can hold does not fire at once", async () => {
  let fired = false;
  const timer = realClock.setTimer(2 ** 40, () => (fired = true));
  await realClock.sleep(5);
  timer.cancel();
  expect(fired).toBe(false);
});

test("turn lets promises and sockets that are ready go first", async () => {
  const seen: string[] = [];
  void Promise.resolve().then(() => seen.push("promise"));
  await realClock.yieldToEventLoop();
  expect(seen).toEqual(["promise"]);
});

test("a foreground timer and keepAlive keep the process alive until they are cancelled and released; a background timer does not", () => {
  const keeping = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = keeping();
  const background = realClock.setTimer(60_000, () => {}, { background: true });
  expect(keeping()).toBe(before);
  const foreground = realClock.setTimer(60_000, () => {});
  const release = realClock.keepAlive();
  const releaseOther = new ScaledClock(realClock, 1000).keepAlive();
  expect(keeping()).toBe(before + 3);
  foreground.cancel();
  release();
  release();
  expect(keeping()).toBe(before + 1);
  releaseOther();
  background.cancel();
  expect(keeping()).toBe(before);
});

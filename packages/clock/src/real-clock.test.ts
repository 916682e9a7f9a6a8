import { expect, test } from "vitest";

import { realClock } from "./real-clock.js";

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
  await realClock.turn();
  expect(seen).toEqual(["promise"]);
});

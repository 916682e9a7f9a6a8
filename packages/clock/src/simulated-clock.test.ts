import { expect, test } from "vitest";

import { SimulatedClock, StuckError } from "./simulated-clock.js";

const START = "2026-01-01T00:00:00Z";

test("now starts at the given time and moves only by advance", async () => {
  const clock = new SimulatedClock(START);
  expect(clock.now()).toBe(Date.parse(START));
  await clock.advance(1_500);
  expect(clock.now()).toBe(Date.parse(START) + 1_500);
  expect(clock.monotonic()).toBe(1_500);
});

test("a start that is not a time is refused by name", () => {
  expect(() => new SimulatedClock("soon")).toThrow('start "soon" is not a time');
});

test("timers fire at their due time, in order of due time, then of creation", async () => {
  const clock = new SimulatedClock(START);
  const fired: string[] = [];
  const note = (name: string) => () => fired.push(`${name}@${clock.monotonic()}`);
  clock.setTimer(20, note("late"));
  clock.setTimer(10, note("first"));
  clock.setTimer(10, note("second"));
  await clock.advance(9);
  expect(fired).toEqual([]);
  await clock.advance(11);
  expect(fired).toEqual(["first@10", "second@10", "late@20"]);
});

test("promises settle between two timers due at the same instant", async () => {
  const clock = new SimulatedClock(START);
  const seen: string[] = [];
  const work = async (name: string): Promise<void> => {
    await clock.sleep(5);
    for (let step = 0; step < 3; step++) {
      seen.push(`${name}${step}`);
      await Promise.resolve();
      await clock.yieldToEventLoop();
    }
  };
  void work("a");
  void work("b");
  await clock.advance(5);
  expect(seen).toEqual(["a0", "a1", "a2", "b0", "b1", "b2"]);
});

test("the next timer waits for the end of a promise chain of any length, for any caller of advance", async () => {
  const clock = new SimulatedClock(START);
  const seen: string[] = [];
  const work = async (name: string): Promise<void> => {
    for (let step = 0; step < 1_000; step++) await Promise.resolve();
    seen.push(name);
  };
  for (let ms = 0; ms < 200; ms++) clock.setTimer(ms, () => void work(`timer ${ms}`));
  await new Promise<void>((resolve) => {
    setImmediate(() => {
      void work("before");
      void clock.advance(200).then(resolve);
    });
  });
  expect(seen).toEqual(["before", ...Array.from({ length: 200 }, (_, ms) => `timer ${ms}`)]);
});

test("sockets and signals get their turn during a long advance", async () => {
  const clock = new SimulatedClock(START);
  let timers = 0;
  for (let ms = 0; ms < 1_000; ms++) clock.setTimer(ms, () => timers++);
  const served: number[] = [];
  const serve = (): void => {
    served.push(timers);
    if (timers < 1_000) setImmediate(serve);
  };
  setImmediate(serve);
  await clock.advance(1_000);
  for (let index = 1; index < served.length; index++)
    expect(served[index]! - served[index - 1]!).toBeLessThanOrEqual(100);
  expect(served.length).toBeGreaterThan(10);
});

test("a timer set by a timer within the same advance fires in that advance", async () => {
  const clock = new SimulatedClock(START);
  const fired: number[] = [];
  const again = (): void => {
    fired.push(clock.monotonic());
    if (fired.length < 4) clock.setTimer(10, again);
  };
  clock.setTimer(10, again);
  await clock.advance(30);
  expect(fired).toEqual([10, 20, 30]);
});

test("a delay that is not positive fires without time moving, but not before setTimer returns", async () => {
  const clock = new SimulatedClock(START);
  let fired = false;
  clock.setTimer(-5, () => (fired = true));
  expect(fired).toBe(false);
  await clock.advance(0);
  expect(fired).toBe(true);
  expect(clock.monotonic()).toBe(0);
});

test("a cancelled timer neither fires nor counts as pending", async () => {
  const clock = new SimulatedClock(START);
  let fired = false;
  const timer = clock.setTimer(10, () => (fired = true));
  clock.setTimer(20, () => {}, { background: true });
  expect(clock.pendingTimers).toBe(1);
  timer.cancel();
  timer.cancel();
  expect(clock.pendingTimers).toBe(0);
  expect(clock.nextTimerInMs).toBe(20);
  await clock.advance(15);
  expect(fired).toBe(false);
});

test("a keepAlive is counted until it is released, and is no timer", () => {
  const clock = new SimulatedClock(START);
  const release = clock.keepAlive();
  const releaseOther = clock.keepAlive();
  expect(clock.keepAliveCount).toBe(2);
  expect(clock.nextTimerInMs).toBeUndefined();
  release();
  release();
  expect(clock.keepAliveCount).toBe(1);
  releaseOther();
  expect(clock.keepAliveCount).toBe(0);
});

test("sleep rejects with the signal's reason and leaves no timer behind", async () => {
  const clock = new SimulatedClock(START);
  const abort = new AbortController();
  const sleeping = clock.sleep(1_000, abort.signal);
  abort.abort(new Error("stopped"));
  await expect(sleeping).rejects.toThrow("stopped");
  expect(clock.nextTimerInMs).toBeUndefined();
  await expect(clock.sleep(1, AbortSignal.abort(new Error("before")))).rejects.toThrow("before");
});

test("a jump moves wall time and leaves timers alone", async () => {
  const clock = new SimulatedClock(START);
  let firedAt = 0;
  clock.setTimer(60_000, () => (firedAt = clock.monotonic()));
  clock.jump(-3_600_000);
  expect(clock.now()).toBe(Date.parse(START) - 3_600_000);
  await clock.advance(60_000);
  expect(firedAt).toBe(60_000);
});

test("two advances at once are refused", async () => {
  const clock = new SimulatedClock(START);
  const first = clock.advance(10);
  await expect(clock.advance(10)).rejects.toThrow("being advanced already");
  await first;
});

test("a thousand timers in random order fire in due order", async () => {
  const clock = new SimulatedClock(0);
  const fired: number[] = [];
  const timers = Array.from({ length: 1_000 }, (_, index) => {
    const dueMs = (index * 7919) % 1_009;
    return clock.setTimer(dueMs, () => fired.push(dueMs));
  });
  for (let index = 0; index < 1_000; index += 3) timers[index]!.cancel();
  await clock.advance(1_009);
  expect(fired).toHaveLength(666);
  expect(fired).toEqual([...fired].sort((a, b) => a - b));
});

test("an order may be drawn for the timers of one instant: the same for the same number, and due times still count first", async () => {
  const orderOf = async (timerOrderSeed: number, others = 0): Promise<string> => {
    const clock = new SimulatedClock(START, { timerOrderSeed });
    let fired = "";
    clock.setTimer(5, () => {
      for (let index = 0; index < others; index++) clock.setTimer(100, () => {});
    });
    await clock.advance(10);
    for (const name of "abcdef") clock.setTimer(20, () => (fired += name));
    clock.setTimer(10, () => (fired += "first "));
    await clock.advance(30);
    return fired;
  };
  const drawn = await orderOf(1);
  expect(drawn).toMatch(/^first [a-f]{6}$/);
  expect(drawn).not.toBe("first abcdef");
  expect(await orderOf(1)).toBe(drawn);
  expect(await orderOf(2)).not.toBe(drawn);
  // Timers set at other instants do not affect the order.
  expect(await orderOf(1, 7)).toBe(drawn);
});

test("an endless loop of clock calls at one instant is stopped, and the clock is stuck", async () => {
  const clock = new SimulatedClock(START, { maxCallsPerInstant: 1_000 });
  let failure: unknown;
  const pollClock = async (): Promise<never> => {
    await clock.sleep(10);
    for (;;) {
      await Promise.resolve();
      clock.monotonic();
    }
  };
  void pollClock().catch((error: unknown) => (failure = error));
  await clock.advance(20);
  expect(failure).toBeInstanceOf(StuckError);
  expect(clock.isStuck).toBe(true);
  expect(clock.now() - Date.parse(START)).toBe(10);
  clock.clearStuck();
  expect(clock.monotonic()).toBe(10);
});

test("a loop that lets ever smaller fractions of a millisecond pass is stopped too", async () => {
  const clock = new SimulatedClock(START, { maxCallsPerInstant: 1_000 });
  const waitOn = async (): Promise<never> => {
    await clock.sleep(10);
    for (let partMs = 0.25; ; partMs = Math.max(partMs / 2, 1e-9)) await clock.sleep(partMs);
  };
  void waitOn();
  await clock.advance(20);
  expect(clock.isStuck).toBe(true);
  expect(() => clock.monotonic()).toThrow(StuckError);
});

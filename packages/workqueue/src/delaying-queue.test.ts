import { SimulatedClock, realClock } from "@kubewright/clock";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { DelayingQueue } from "./delaying-queue.js";

test("addAfter hands the item out when its delay has passed, not before", async () => {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const queue = new DelayingQueue<string>({ clock });
  queue.addAfter("default/pi", 50);
  await clock.advance(49);
  expect(queue.length).toBe(0);
  await clock.advance(1);
  expect(queue.length).toBe(1);
  expect(clock.pendingTimers).toBe(0);
});

test("two delays of one item collapse to the earlier, whichever came first", async () => {
  for (const delays of [
    [10_000, 2000],
    [2000, 10_000],
  ]) {
    const clock = new SimulatedClock();
    const queue = new DelayingQueue<string>({ clock });
    for (const delayMs of delays) queue.addAfter("a", delayMs);
    await clock.advance(1999);
    expect(queue.length).toBe(0);
    await clock.advance(1);
    queue.done((await queue.get())!);
    await clock.advance(60_000);
    expect(queue.length).toBe(0);
  }
});

test("an add does not cancel a delay: the item comes twice", async () => {
  const clock = new SimulatedClock();
  const queue = new DelayingQueue<string>({ clock });
  queue.addAfter("a", 2000);
  queue.add("a");
  queue.done((await queue.get())!);
  expect(queue.length).toBe(0);
  await clock.advance(2000);
  expect(queue.length).toBe(1);
});

test("a delay that is zero, negative or not a number means now", () => {
  const clock = new SimulatedClock();
  const queue = new DelayingQueue<string>({ clock });
  queue.addAfter("zero", 0);
  queue.addAfter("negative", -5000);
  queue.addAfter("not a number", Number.NaN);
  expect(queue.length).toBe(3);
  expect(clock.nextTimerInMs).toBeUndefined();
});

test("a thousand items due at one instant come at that instant, each once, in the order they were asked for", async () => {
  const clock = new SimulatedClock();
  const queue = new DelayingQueue<number>({ clock });
  for (let item = 0; item < 1000; item++) {
    queue.addAfter(item, 1000);
    queue.addAfter(item, 5000);
  }
  await clock.advance(999);
  expect(queue.length).toBe(0);
  await clock.advance(1);
  expect(queue.length).toBe(1000);
  for (let item = 0; item < 1000; item++) expect(await queue.get()).toBe(item);
});

test("one timer serves all delays, and follows the earliest", async () => {
  const clock = new SimulatedClock();
  const queue = new DelayingQueue<string>({ clock });
  queue.addAfter("late", 9000);
  queue.addAfter("early", 1000);
  queue.addAfter("middle", 5000);
  expect(clock.pendingTimers).toBe(1);
  expect(clock.nextTimerInMs).toBe(1000);
  await clock.advance(1000);
  expect(clock.nextTimerInMs).toBe(4000);
  await clock.advance(8000);
  expect([await queue.get(), await queue.get(), await queue.get()]).toEqual(["early", "middle", "late"]);
  expect(clock.nextTimerInMs).toBeUndefined();
});

test("a delay of sixty days on the machine's own clock neither fires early nor keeps it busy", async () => {
  const queue = new DelayingQueue<string>({ clock: realClock });
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  queue.addAfter("a", 60 * 24 * 3_600_000);
  let turns = 0;
  for (const begun = performance.now(); performance.now() - begun < 30; turns++) await realClock.yieldToEventLoop();
  expect(queue.length).toBe(0);
  const waiting = timers();
  queue.shutDown();
  expect(timers()).toBe(waiting - 1);
  expect(turns).toBeGreaterThan(0);
});

test("a delay is monotonic time: setting the wall clock changes nothing", async () => {
  const clock = new SimulatedClock();
  const queue = new DelayingQueue<string>({ clock });
  queue.addAfter("a", 1000);
  clock.jump(3_600_000);
  await clock.advance(999);
  expect(queue.length).toBe(0);
  clock.jump(-7_200_000);
  await clock.advance(1);
  expect(queue.length).toBe(1);
});

test("shutdown drops everything that waits, with its timer", async () => {
  for (const stop of ["shutDown", "shutDownWithDrain"] as const) {
    const clock = new SimulatedClock();
    const queue = new DelayingQueue<string>({ clock });
    queue.addAfter("a", 1000);
    await queue[stop]();
    expect(clock.nextTimerInMs).toBeUndefined();
    queue.addAfter("b", 1000);
    await clock.advance(5000);
    expect(queue.length).toBe(0);
    expect(await queue.get()).toBeUndefined();
  }
});

test("for any delays, every item comes out once, at its earliest time, ties in order of asking", async () => {
  const requests = fc.array(
    fc.record({ item: fc.integer({ min: 0, max: 15 }), delayMs: fc.integer({ min: 1, max: 12 }) }),
    { maxLength: 60 },
  );
  await fc.assert(
    fc.asyncProperty(requests, async (asked) => {
      const clock = new SimulatedClock();
      const queue = new DelayingQueue<number>({ clock });
      const earliest = new Map<number, { delayMs: number; order: number }>();
      asked.forEach(({ item, delayMs }, order) => {
        queue.addAfter(item, delayMs);
        if (delayMs < (earliest.get(item)?.delayMs ?? Infinity)) earliest.set(item, { delayMs, order });
      });
      const expected = [...earliest].sort(([, a], [, b]) => a.delayMs - b.delayMs || a.order - b.order);
      const seen: [number, number][] = [];
      for (let nowMs = 1; nowMs <= 12; nowMs++) {
        await clock.advance(1);
        while (queue.length > 0) {
          const item = (await queue.get())!;
          seen.push([item, nowMs]);
          queue.done(item);
        }
      }
      expect(seen).toEqual(expected.map(([item, { delayMs }]) => [item, delayMs]));
    }),
    { numRuns: 50 },
  );
});

import { SimulatedClock } from "@kubewright/clock";
import { expect, test } from "vitest";

import { BucketRateLimiter } from "./bucket-rate-limiter.js";
import {
  MaxOfRateLimiter,
  WithMaxWaitRateLimiter,
  defaultControllerRateLimiter,
  defaultItemBasedRateLimiter,
} from "./combined-rate-limiters.js";
import { ItemExponentialFailureRateLimiter, ItemFastSlowRateLimiter } from "./item-rate-limiters.js";
import type { RateLimiter } from "./rate-limiter.js";
import { RateLimitingQueue } from "./rate-limiting-queue.js";

function delays(limiter: RateLimiter<string>, item: string, count: number): number[] {
  return Array.from({ length: count }, () => limiter.when(item));
}

test("exponential: delays double up to the maximum, per item, until forgotten", () => {
  const limiter = new ItemExponentialFailureRateLimiter<string>({ baseDelayMs: 1000, maxDelayMs: 10_000 });
  expect(delays(limiter, "a", 6)).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000]);
  expect(limiter.numRequeues("a")).toBe(6);
  expect(limiter.when("b")).toBe(1000);
  limiter.forget("a");
  expect(limiter.numRequeues("a")).toBe(0);
  expect(limiter.when("a")).toBe(1000);
});

test("exponential: two thousand failures overflow nothing", () => {
  const limiter = new ItemExponentialFailureRateLimiter<string>({ baseDelayMs: 1, maxDelayMs: 1_000_000 });
  expect(delays(limiter, "a", 2000).at(-1)).toBe(1_000_000);
});

test("fast and slow: the first failures wait little, the others long", () => {
  const limiter = new ItemFastSlowRateLimiter<string>({ fastDelayMs: 5, slowDelayMs: 10_000, maxFastAttempts: 3 });
  expect(delays(limiter, "a", 5)).toEqual([5, 5, 5, 10_000, 10_000]);
  expect(limiter.numRequeues("a")).toBe(5);
  limiter.forget("a");
  expect(limiter.when("a")).toBe(5);
});

test("bucket: the burst is free, the rest is spread out over all items", async () => {
  const clock = new SimulatedClock();
  const limiter = new BucketRateLimiter<string>({ clock, qps: 10, burst: 2 });
  expect([limiter.when("a"), limiter.when("b"), limiter.when("c"), limiter.when("d")]).toEqual([0, 0, 100, 200]);
  expect(limiter.numRequeues("a")).toBe(0);
  await clock.advance(300);
  expect(limiter.when("a")).toBe(0);
});

test("the longest delay wins, and every limiter counts every failure", () => {
  const clock = new SimulatedClock();
  const item = new ItemExponentialFailureRateLimiter<string>({ baseDelayMs: 1000, maxDelayMs: 8000 });
  const bucket = new BucketRateLimiter<string>({ clock, qps: 1, burst: 1 });
  const limiter = new MaxOfRateLimiter(item, bucket);
  expect(delays(limiter, "a", 3)).toEqual([1000, 2000, 4000]);
  expect(bucket.when("b")).toBe(3000);
  expect(limiter.numRequeues("a")).toBe(3);
  limiter.forget("a");
  expect(item.numRequeues("a")).toBe(0);
});

test("a maximum wait cuts the delay, not the count", () => {
  const inner = new ItemExponentialFailureRateLimiter<string>({ baseDelayMs: 1000, maxDelayMs: 60_000 });
  const limiter = new WithMaxWaitRateLimiter({ limiter: inner, maxDelayMs: 3000 });
  expect(delays(limiter, "a", 4)).toEqual([1000, 2000, 3000, 3000]);
  expect(limiter.numRequeues("a")).toBe(4);
  limiter.forget("a");
  expect(inner.when("a")).toBe(1000);
});

test("the default limiter: 5 ms doubling to 1000 s per item, and ten per second after a hundred", () => {
  const clock = new SimulatedClock();
  const spread = defaultControllerRateLimiter<string>({ clock });
  const waits = Array.from({ length: 150 }, (_, index) => spread.when(`key-${index}`));
  expect(new Set(waits.slice(0, 100))).toEqual(new Set([5]));
  expect(waits[100]).toBe(100);
  expect(waits[149]).toBe(5000);

  const one = defaultControllerRateLimiter<string>({ clock: new SimulatedClock() });
  expect(delays(one, "a", 20)).toEqual([
    ...Array.from({ length: 18 }, (_, failures) => 5 * 2 ** failures),
    1_000_000,
    1_000_000,
  ]);
  expect(delays(defaultItemBasedRateLimiter<string>(), "a", 3)).toEqual([1, 2, 4]);
});

test("a rate-limited item comes back after its delay, and after forget without one", async () => {
  const clock = new SimulatedClock();
  const rateLimiter = new ItemExponentialFailureRateLimiter<string>({ baseDelayMs: 1000, maxDelayMs: 60_000 });
  const queue = new RateLimitingQueue<string>({ clock, rateLimiter });
  for (const [failures, delayMs] of [1000, 2000, 4000].entries()) {
    expect(queue.numRequeues("a")).toBe(failures);
    queue.addRateLimited("a");
    await clock.advance(delayMs - 1);
    expect(queue.length).toBe(0);
    await clock.advance(1);
    queue.done((await queue.get())!);
  }
  queue.forget("a");
  expect(queue.numRequeues("a")).toBe(0);
  queue.addRateLimited("a");
  await clock.advance(1000);
  expect(queue.length).toBe(1);
});

test("a rate limiter that says zero re-queues an item in processing when it is done", async () => {
  const clock = new SimulatedClock();
  const rateLimiter = new BucketRateLimiter<string>({ clock, qps: 1, burst: 10 });
  const queue = new RateLimitingQueue<string>({ clock, rateLimiter });
  queue.add("a");
  await queue.get();
  queue.addRateLimited("a");
  expect(queue.length).toBe(0);
  queue.done("a");
  expect(queue.length).toBe(1);
});

import { SimulatedClock } from "@kubewright/clock";
import { expect, test } from "vitest";

import { BucketRateLimiter } from "./bucket-rate-limiter.js";
import { defaultControllerRateLimiter } from "./combined-rate-limiters.js";
import { ItemExponentialFailureRateLimiter, ItemFastSlowRateLimiter } from "./item-rate-limiters.js";
import { parallelizeUntil } from "./parallelize-until.js";
import { PriorityQueue } from "./priority-queue.js";
import { RateLimitingQueue } from "./rate-limiting-queue.js";

const clock = new SimulatedClock();
const queues = [RateLimitingQueue, PriorityQueue].map((Queue) => ({
  name: Queue.name,
  queue: () => new Queue<unknown>({ clock, rateLimiter: defaultControllerRateLimiter({ clock }) }),
}));

test.for(queues)("$name refuses items without a value identity, and continues", async ({ queue: make }) => {
  const queue = make();
  for (const [item, what] of [
    [{ name: "a" }, "an object"],
    [["a"], "an object"],
    [() => "a", "a function"],
    [null, "null"],
    [undefined, "undefined"],
  ] as const) {
    const message = `a queue takes strings or other primitives, not ${what}: give it the object's key`;
    expect(() => queue.add(item)).toThrow(new TypeError(message));
    expect(() => queue.addAfter(item, 5)).toThrow(new TypeError(message));
  }
  expect(queue.length).toBe(0);
  queue.add(7);
  expect(await queue.get()).toBe(7);
  expect(clock.pendingTimers).toBe(0);
});

test.for(queues)(
  "$name: a delay that is negative or not a number means now, an infinite one is refused",
  ({ queue: make }) => {
    const queue = make();
    queue.addAfter("a", -5000);
    queue.addAfter("b", Number.NaN);
    expect(queue.length).toBe(2);
    expect(() => queue.addAfter("c", Infinity)).toThrow(
      new RangeError("the delay of c is infinite: it would never be added"),
    );
    expect(clock.pendingTimers).toBe(0);
  },
);

test.for(queues)("$name: after shutdown every call answers, and none has an effect", async ({ queue: make }) => {
  const queue = make();
  queue.shutDown();
  queue.shutDown();
  queue.add("a");
  queue.addAfter("a", 1);
  queue.addRateLimited("a");
  queue.done("a");
  queue.forget("a");
  expect(await queue.get()).toBeUndefined();
  await queue.shutDownWithDrain();
  expect(queue.length).toBe(0);
  expect(clock.pendingTimers).toBe(0);
});

test("rate limiters refuse numbers that would hold items back for ever", () => {
  expect(() => new BucketRateLimiter({ clock, qps: 0, burst: 1 })).toThrow("qps of a bucket must be above zero, not 0");
  expect(() => new BucketRateLimiter({ clock, qps: 1, burst: 0 })).toThrow(
    "burst of a bucket must be at least one, not 0",
  );
  expect(() => new ItemExponentialFailureRateLimiter({ baseDelayMs: -1, maxDelayMs: 5 })).toThrow(
    "baseDelayMs must be a number of milliseconds from zero up, not -1",
  );
  expect(() => new ItemExponentialFailureRateLimiter({ baseDelayMs: 1, maxDelayMs: Infinity })).toThrow("maxDelayMs");
  expect(() => new ItemFastSlowRateLimiter({ fastDelayMs: 1, slowDelayMs: Number.NaN, maxFastAttempts: 1 })).toThrow(
    "slowDelayMs",
  );
});

test("pieces without a worker are refused instead of left undone", async () => {
  await expect(parallelizeUntil({ workers: 0, pieces: 3 }, () => {})).rejects.toThrow(
    "0 workers would never do 3 pieces",
  );
  await parallelizeUntil({ workers: 0, pieces: 0 }, () => {});
});

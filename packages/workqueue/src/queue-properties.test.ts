import { SimulatedClock } from "@kubewright/clock";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { ItemExponentialFailureRateLimiter } from "./item-rate-limiters.js";
import { PriorityQueue } from "./priority-queue.js";
import { RateLimitingQueue } from "./rate-limiting-queue.js";

/** One operation on the queue, or a pause. */
const step = fc.oneof(
  fc.record({
    type: fc.constantFrom("add" as const, "addRateLimited" as const),
    key: fc.constantFrom("a", "b", "c", "d"),
  }),
  fc.record({
    type: fc.constant("addAfter" as const),
    key: fc.constantFrom("a", "b", "c", "d"),
    ms: fc.integer({ min: -1, max: 9 }),
  }),
  fc.record({
    type: fc.constant("prioritise" as const),
    key: fc.constantFrom("a", "b", "c", "d"),
    priority: fc.integer({ min: -2, max: 2 }),
  }),
  fc.record({ type: fc.constant("wait" as const), ms: fc.integer({ min: 0, max: 6 }) }),
);
const scenario = fc.record({
  steps: fc.array(step, { maxLength: 40 }),
  workers: fc.integer({ min: 1, max: 4 }),
  /** The duration of each processing, and whether it fails; repeated cyclically. */
  work: fc.array(fc.record({ ms: fc.integer({ min: 0, max: 7 }), fails: fc.boolean() }), {
    minLength: 1,
    maxLength: 8,
  }),
  drain: fc.boolean(),
});

test.for([
  { name: "RateLimitingQueue", Queue: RateLimitingQueue },
  { name: "PriorityQueue", Queue: PriorityQueue },
])(
  "$name never hands one key to two workers, never loses an added key, and stops when all is done",
  async ({ Queue }) => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ steps, workers, work, drain }) => {
        const clock = new SimulatedClock();
        const rateLimiter = new ItemExponentialFailureRateLimiter<string>({ baseDelayMs: 1, maxDelayMs: 8 });
        const queue = new Queue<string>({ clock, rateLimiter });
        let now = 0;
        const askedAt = new Map<string, number>();
        const begunAt = new Map<string, number>();
        const processing = new Set<string>();
        let processed = 0;
        const worker = async (): Promise<void> => {
          for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
            if (processing.has(key)) throw new Error(`${key} is with two workers`);
            processing.add(key);
            begunAt.set(key, ++now);
            const { ms, fails } = work[processed++ % work.length]!;
            await clock.sleep(ms);
            processing.delete(key);
            // Limits the retries of an item, so that the run ends.
            if (fails && queue.numRequeues(key) < 4) queue.addRateLimited(key);
            else queue.forget(key);
            queue.done(key);
          }
        };
        const stopped = Promise.all(Array.from({ length: workers }, worker));
        for (const one of steps) {
          if (one.type === "wait") await clock.advance(one.ms);
          else {
            askedAt.set(one.key, ++now);
            if (one.type === "addAfter") queue.addAfter(one.key, one.ms);
            else if (one.type === "prioritise" && queue instanceof PriorityQueue)
              queue.addWithOptions({ priority: one.priority }, one.key);
            else if (one.type === "addRateLimited") queue.addRateLimited(one.key);
            else queue.add(one.key);
          }
        }
        await clock.advance(10_000);
        for (const [key, at] of askedAt) expect(begunAt.get(key), `${key} was lost`).toBeGreaterThan(at);
        expect(queue.length).toBe(0);
        expect(processing.size).toBe(0);
        expect(clock.pendingTimers).toBe(0);
        if (drain) await queue.shutDownWithDrain();
        else queue.shutDown();
        await stopped;
      }),
      { numRuns: 60 },
    );
  },
);

test("a drain started at any time waits for what is being processed, and workers still take what is queued", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom("a", "b", "c", "d", "e"), { maxLength: 8 }),
      fc.integer({ min: 0, max: 12 }),
      async (keys, afterMs) => {
        const clock = new SimulatedClock();
        const queue = new RateLimitingQueue<string>({
          clock,
          rateLimiter: new ItemExponentialFailureRateLimiter({ baseDelayMs: 1, maxDelayMs: 8 }),
        });
        const finished = new Set<string>();
        let processing = 0;
        const worker = async (): Promise<void> => {
          for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
            processing++;
            await clock.sleep(4);
            processing--;
            finished.add(key);
            queue.done(key);
          }
        };
        const stopped = Promise.all([worker(), worker()]);
        for (const key of keys) queue.add(key);
        await clock.advance(afterMs);
        let processingWhenDrained: number | undefined;
        void queue.shutDownWithDrain().then(() => (processingWhenDrained = processing));
        await clock.advance(1000);
        await stopped;
        expect(processingWhenDrained).toBe(0);
        expect(finished).toEqual(new Set(keys));
      },
    ),
    { numRuns: 60 },
  );
});

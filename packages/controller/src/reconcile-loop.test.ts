import { objectKey } from "@kubewright/api";
import { type Logger, SimulatedClock, silentLogger } from "@kubewright/clock";
import { ItemExponentialFailureRateLimiter, RateLimitingQueue } from "@kubewright/workqueue";
import { expect, test, vi } from "vitest";

import { type Reconcile, ReconcileLoop, type ReconcileLoopOptions } from "./reconcile-loop.js";
import { TerminalError } from "./terminal-error.js";

const a = objectKey({ namespace: "default", name: "a" });
const b = objectKey({ namespace: "default", name: "b" });

function setUp(reconcile: Reconcile, options: Partial<ReconcileLoopOptions> = {}) {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const rateLimiter = new ItemExponentialFailureRateLimiter<typeof a>({ baseDelayMs: 1000, maxDelayMs: 60_000 });
  const queue = new RateLimitingQueue({ clock, rateLimiter });
  const stop = new AbortController();
  const loop = new ReconcileLoop({ name: "test", queue, reconcile, workers: 2, clock, ...options });
  return { clock, queue, stop, loop, start: () => loop.run(stop.signal) };
}

test("a key added again while it is reconciled is reconciled again, never concurrently", async () => {
  let running = 0;
  let most = 0;
  let times = 0;
  const { clock, queue, stop, start } = setUp(async () => {
    times++;
    most = Math.max(most, ++running);
    await clock.sleep(1000);
    running--;
  });
  const done = start();
  queue.add(a);
  await clock.advance(500);
  queue.add(a);
  queue.add(a);
  await clock.advance(10_000);
  expect({ times, most }).toEqual({ times: 2, most: 1 });
  stop.abort();
  await done;
});

test("as many keys are worked on at once as there are workers", async () => {
  let most = 0;
  let running = 0;
  const { clock, queue, start, stop } = setUp(async () => {
    most = Math.max(most, ++running);
    await clock.sleep(1000);
    running--;
  });
  const done = start();
  for (let index = 0; index < 5; index++) queue.add(objectKey({ namespace: "default", name: `pod-${index}` }));
  await clock.advance(5000);
  expect(most).toBe(2);
  stop.abort();
  await done;
});

test("an error is retried with growing delays, and a success starts them afresh", async () => {
  const at: number[] = [];
  const { clock, queue, stop, start } = setUp(async () => {
    at.push(clock.monotonic());
    if (at.length <= 3 || at.length === 5) throw new Error("not yet");
  });
  const done = start();
  queue.add(a);
  await clock.advance(20_000);
  expect(at).toEqual([0, 1000, 3000, 7000]);
  queue.add(a);
  await clock.advance(20_000);
  expect(at.slice(4)).toEqual([20_000, 21_000]);
  stop.abort();
  await done;
});

test("a TerminalError is logged and not retried", async () => {
  const logged: unknown[] = [];
  const logger: Logger = { ...silentLogger, error: (fields, message) => logged.push({ ...fields, message }) };
  let times = 0;
  const reconcile: Reconcile = async () => {
    times++;
    throw new TerminalError("the schedule cannot be read");
  };
  const { clock, queue, stop, start } = setUp(reconcile, { logger, describeError: "Error syncing CronJob" });
  const done = start();
  queue.add(a);
  await clock.advance(3_600_000);
  expect(times).toBe(1);
  expect(queue.numRequeues(a)).toBe(0);
  expect(logged).toEqual([
    {
      controller: "test",
      key: "default/a",
      err: "the schedule cannot be read",
      willRetry: false,
      message: "Error syncing CronJob",
    },
  ]);
  stop.abort();
  await done;
});

test("requeueAfterMs brings the key back later without counting as a failure", async () => {
  const at: number[] = [];
  const { clock, queue, stop, start } = setUp(async () => {
    at.push(clock.monotonic());
    if (at.length === 1) throw new Error("once");
    if (at.length === 2) return { requeueAfterMs: 5000 };
    return undefined;
  });
  const done = start();
  queue.add(a);
  await clock.advance(60_000);
  expect(at).toEqual([0, 1000, 6000]);
  expect(queue.numRequeues(a)).toBe(0);
  stop.abort();
  await done;
});

test("keepFailures leaves the failure count alone", async () => {
  let times = 0;
  const { clock, queue, stop, start } = setUp(async () => {
    if (++times === 1) throw new Error("once");
    return { keepFailures: true };
  });
  const done = start();
  queue.add(a);
  await clock.advance(60_000);
  expect(times).toBe(2);
  expect(queue.numRequeues(a)).toBe(1);
  stop.abort();
  await done;
});

test("on abort, reconciles in progress finish, queued keys stay undone, and run resolves afterwards", async () => {
  const finished: string[] = [];
  const { clock, queue, stop, start } = setUp(
    async (key) => {
      await clock.sleep(1000);
      finished.push(key);
    },
    { workers: 1 },
  );
  let ended = false;
  const done = start().then(() => (ended = true));
  queue.add(a);
  queue.add(b);
  await clock.advance(500);
  stop.abort();
  await clock.advance(499);
  expect({ finished, ended }).toEqual({ finished: [], ended: false });
  await clock.advance(60_000);
  expect({ finished, ended }).toEqual({ finished: ["default/a"], ended: true });
  await done;
});

test("a reconcile that an abort cuts short is not logged as an error", async () => {
  const logged: string[] = [];
  const logger: Logger = { ...silentLogger, error: (_fields, message) => logged.push(message) };
  const { clock, queue, stop, start } = setUp((_key, signal) => clock.sleep(1000, signal), { logger });
  const done = start();
  queue.add(a);
  await clock.advance(10);
  stop.abort();
  await done;
  expect(logged).toEqual([]);
});

test("nothing is reconciled before the caches have synced, nor ever when the signal aborts first", async () => {
  const seen: string[] = [];
  const reconcile: Reconcile = async (key) => void seen.push(key);
  const first = setUp(reconcile, { waitForSync: (signal) => first.clock.sleep(100, signal) });
  const done = first.start();
  first.queue.add(a);
  await first.clock.advance(99);
  expect(seen).toEqual([]);
  await first.clock.advance(1);
  expect(seen).toEqual(["default/a"]);
  first.stop.abort();
  await done;

  const second = setUp(reconcile, { waitForSync: (signal) => second.clock.sleep(100, signal) });
  const doneToo = second.start();
  second.queue.add(b);
  second.stop.abort();
  await doneToo;
  expect(seen).toEqual(["default/a"]);
});

test("a failure to sync stops the loop with that error", async () => {
  const { start } = setUp(async () => undefined, {
    waitForSync: () => Promise.reject(new Error("caches did not sync")),
  });
  await expect(start()).rejects.toThrow("caches did not sync");
});

test("a long stretch of work from caches lets the event loop turn", async () => {
  let turns = 0;
  const clock = new SimulatedClock();
  const busy = Object.assign(Object.create(clock) as SimulatedClock, {
    monotonic: () => (elapsedMs += 2),
    yieldToEventLoop: () => Promise.resolve(void turns++),
    setTimer: clock.setTimer.bind(clock),
    keepAlive: clock.keepAlive.bind(clock),
  });
  let elapsedMs = 0;
  const { queue, stop, start } = setUp(async () => undefined, { workers: 1, clock: busy });
  for (let index = 0; index < 30; index++) queue.add(objectKey({ name: `n${index}` }));
  const done = start();
  await clock.settle();
  expect(turns).toBeGreaterThan(5);
  stop.abort();
  await done;
});

test("a loop runs once: a second run is refused, whether the first is running or has ended", async () => {
  const { stop, start } = setUp(async () => {});
  const done = start();
  await expect(start()).rejects.toThrow("test was run already: create a new loop with a new queue");
  stop.abort();
  await done;
  await expect(start()).rejects.toThrow("test was run already");
});

test("keys added after the stop are ignored, and nothing hangs", async () => {
  const keys: string[] = [];
  const { clock, queue, stop, start } = setUp(async (key) => void keys.push(key));
  stop.abort();
  await start();
  queue.add(a);
  queue.addAfter(b, 10);
  await clock.advance(1_000);
  expect(keys).toEqual([]);
  expect(clock.nextTimerInMs).toBeUndefined();
});

test.each<[string, Reconcile, string]>([
  ["throws before it returns a promise", () => expect.unreachable("no promise"), "no promise"],
  ["throws what is no Error", () => Promise.reject("a string"), "a string"],
  ["throws nothing", () => Promise.reject(undefined), "undefined"],
  ["asks for NaN", async () => ({ requeueAfterMs: Number.NaN }), "requeueAfterMs of NaN"],
  ["asks for never", async () => ({ requeueAfterMs: Number.POSITIVE_INFINITY }), "requeueAfterMs of Infinity"],
])("a reconcile that %s is retried with back-off, and the worker lives on", async (_what, broken, message) => {
  const errors: string[] = [];
  const logger: Logger = { ...silentLogger, error: (fields) => void errors.push((fields as { err: string }).err) };
  let healthy = 0;
  const { clock, queue, stop, start } = setUp(
    (key, signal) => (key === a ? broken(key, signal) : Promise.resolve(void healthy++)),
    { logger, workers: 1 },
  );
  const done = start();
  queue.add(a);
  await clock.advance(0);
  queue.add(b);
  await clock.advance(3_500);
  // At 0, 1 and 3 s.
  expect(errors).toHaveLength(3);
  expect(errors[0]).toContain(message);
  expect(healthy).toBe(1);
  stop.abort();
  await done;
});

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("%s workers are refused", (workers) => {
  expect(() => setUp(async () => {}, { workers })).toThrow(
    `test: workers must be a whole number from 1 on, not ${workers}`,
  );
});

test("a requeue in the past is a requeue at once", async () => {
  let times = 0;
  const { clock, queue, stop, start } = setUp(async () => (++times < 3 ? { requeueAfterMs: -5_000 } : undefined));
  const done = start();
  queue.add(a);
  await clock.advance(0);
  expect(times).toBe(3);
  stop.abort();
  await done;
});

test("a reconcile that never ends keeps run from ending for 30 s and no longer: run rejects, and names the key", async () => {
  const logged: object[] = [];
  const logger: Logger = { ...silentLogger, error: (fields, message) => logged.push({ ...fields, message }) };
  const { clock, queue, stop, start } = setUp(() => new Promise<never>(() => {}), { logger });
  const done = start();
  queue.add(a);
  await clock.advance(100_000);
  stop.abort();
  await clock.advance(29_999);
  expect(logged).toEqual([]);
  const failure = done.catch((error: Error) => error.message);
  await clock.advance(1);
  expect(await failure).toBe("test: reconciling default/a did not end within 30 s of the stop signal");
  expect(logged).toMatchObject([{ controller: "test", keys: ["default/a"] }]);
  expect({ timer: clock.nextTimerInMs, holds: clock.keepAliveCount }).toEqual({ timer: undefined, holds: 0 });
});

test("the time to stop is an option, which may be infinite but not negative", async () => {
  const { clock, queue, stop, start } = setUp(() => clock.sleep(3_600_000), { stopTimeoutMs: Infinity });
  const done = start();
  queue.add(a);
  await clock.advance(0);
  stop.abort();
  await clock.advance(3_600_000);
  await done;
  expect(() => setUp(async () => {}, { stopTimeoutMs: -1 })).toThrow(
    "stopTimeoutMs must be a number from 0 on, not -1",
  );
});

test("waiting for caches that do not hear of the stop is not waited for", async () => {
  const { clock, stop, start } = setUp(async () => {}, { waitForSync: () => new Promise<never>(() => {}) });
  const done = start();
  await clock.advance(1_000);
  expect(clock.keepAliveCount).toBe(1);
  stop.abort();
  await done;
  expect(clock.keepAliveCount).toBe(0);
});

test("an idle loop keeps the process alive, and lets it go when it has stopped", async () => {
  const { clock, stop, start } = setUp(async () => {});
  const done = start();
  await clock.advance(1_000);
  expect(clock.keepAliveCount).toBeGreaterThan(0);
  stop.abort();
  await done;
  expect(clock.keepAliveCount).toBe(0);
});

test("without a logger a reconcile that keeps failing is logged to standard error, the same failure once a minute", async () => {
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  try {
    const { clock, queue, stop, start } = setUp(() => Promise.reject(new Error("no such table")));
    const done = start();
    queue.add(a);
    await clock.advance(59_000);
    expect(error.mock.calls.map(([line]) => String(line).replace(/^(E).*? test\]/, "$1"))).toEqual([
      'E "Reconciling failed" controller="test" key="default/a" err="no such table" willRetry=true',
    ]);
    await clock.advance(61_000);
    expect(error.mock.lastCall![0]).toMatch(/ err="no such table" willRetry=true repeated=\d$/);
    expect(error.mock.calls.length).toBeLessThanOrEqual(3);
    stop.abort();
    await done;
  } finally {
    error.mockRestore();
  }
});

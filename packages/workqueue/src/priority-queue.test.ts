import { SimulatedClock } from "@kubewright/clock";
import { expect, test } from "vitest";

import { ItemExponentialFailureRateLimiter } from "./item-rate-limiters.js";
import { PriorityQueue, lowPriority } from "./priority-queue.js";

function setUp() {
  const clock = new SimulatedClock();
  const rateLimiter = new ItemExponentialFailureRateLimiter<string>({ baseDelayMs: 1000, maxDelayMs: 10_000 });
  return { clock, queue: new PriorityQueue<string>({ clock, rateLimiter }) };
}

/** Gets and finishes all ready items. */
async function drain(queue: PriorityQueue<string>): Promise<string> {
  const items: string[] = [];
  while (queue.length > 0) {
    const item = (await queue.get())!;
    items.push(item);
    queue.done(item);
  }
  return items.join(" ");
}

test("a live change need not wait for the rest of an initial list", async () => {
  const { queue } = setUp();
  const listed = Array.from({ length: 10_000 }, (_, index) => `listed-${index}`);
  queue.addWithOptions({ priority: lowPriority }, ...listed);
  queue.add("changed");
  expect(await queue.get()).toBe("changed");
  expect(await queue.get()).toBe("listed-0");
  // An add of a listed item moves it forward, too.
  queue.add("listed-9999");
  expect(await queue.get()).toBe("listed-9999");
  expect(await queue.get()).toBe("listed-1");
});

test("the highest priority comes first, and of equal ones what was added first", async () => {
  const { queue } = setUp();
  queue.addWithOptions({ priority: 1 }, "b", "c");
  queue.addWithOptions({ priority: 5 }, "a");
  queue.add("e");
  queue.addWithOptions({ priority: 1 }, "d");
  expect(await drain(queue)).toBe("a b c d e");
});

test("added again, an item keeps the higher priority, and one that is raised joins the end of its new one", async () => {
  const { queue } = setUp();
  queue.addWithOptions({ priority: 3 }, "a");
  queue.addWithOptions({ priority: 1 }, "a");
  queue.add("low");
  queue.addWithOptions({ priority: 3 }, "b");
  queue.addWithOptions({ priority: 3 }, "low");
  queue.addWithOptions({ priority: 2 }, "c");
  expect(queue.length).toBe(4);
  expect(await drain(queue)).toBe("a b low c");
});

test("an item has one entry: adding it takes the place of its delay", async () => {
  const { clock, queue } = setUp();
  queue.addAfter("a", 5000);
  queue.add("a");
  expect(await drain(queue)).toBe("a");
  await clock.advance(10_000);
  expect(queue.length).toBe(0);
  expect(clock.pendingTimers).toBe(0);

  queue.add("a");
  queue.addAfter("a", 5000);
  expect(await drain(queue)).toBe("a");
  await clock.advance(10_000);
  expect(queue.length).toBe(0);
});

test("of two delays the earlier counts, of two priorities the higher", async () => {
  const { clock, queue } = setUp();
  queue.addWithOptions({ afterMs: 5000, priority: 7 }, "a");
  queue.addWithOptions({ afterMs: 2000, priority: 1 }, "a");
  queue.addWithOptions({ afterMs: 2000, priority: 5 }, "b");
  await clock.advance(1999);
  expect(queue.length).toBe(0);
  await clock.advance(1);
  expect(await drain(queue)).toBe("a b");
  await clock.advance(5000);
  expect(queue.length).toBe(0);
});

test("rate limited with a delay, an item waits the shorter of the two", async () => {
  const { clock, queue } = setUp();
  queue.addWithOptions({ rateLimited: true, afterMs: 200 }, "a");
  queue.addWithOptions({ rateLimited: true, afterMs: 20_000 }, "b");
  await clock.advance(200);
  expect(await drain(queue)).toBe("a");
  await clock.advance(800);
  expect(await drain(queue)).toBe("b");
  expect(queue.numRequeues("a")).toBe(1);
});

test("a retry keeps the priority the item was handed out with", async () => {
  const { clock, queue } = setUp();
  queue.addWithOptions({ priority: 4 }, "important");
  queue.addWithOptions({ priority: lowPriority }, "listed");
  for (const item of [(await queue.get())!, (await queue.get())!]) {
    queue.addRateLimited(item);
    queue.done(item);
  }
  await clock.advance(1000);
  queue.add("ordinary");
  expect(await drain(queue)).toBe("important ordinary listed");
});

test("a change during processing is a change of its own, not of the priority handed out", async () => {
  const { queue } = setUp();
  queue.addWithOptions({ priority: 4 }, "a");
  const a = (await queue.get())!;
  queue.add(a);
  queue.addWithOptions({ priority: 2 }, "b");
  queue.done(a);
  expect(await drain(queue)).toBe("b a");
});

test("one key is never with two workers, whatever is added meanwhile", async () => {
  const { clock, queue } = setUp();
  queue.add("a");
  const a = (await queue.get())!;
  let second: string | undefined;
  void queue.get().then((item) => (second = item));
  queue.addWithOptions({ priority: 10 }, a);
  await clock.settle();
  expect(second).toBeUndefined();
  queue.done(a);
  await clock.settle();
  expect(second).toBe("a");
});

test("shutting down is as in the other queues: what is ready is handed out, delays are dropped", async () => {
  const { clock, queue } = setUp();
  queue.add("a");
  queue.addWithOptions({ priority: 1 }, "b");
  queue.addAfter("later", 1000);
  queue.shutDown();
  queue.add("c");
  expect(await drain(queue)).toBe("b a");
  expect(await queue.get()).toBeUndefined();
  expect(clock.pendingTimers).toBe(0);
});

test("a priority that is not a number is refused", () => {
  const { queue } = setUp();
  expect(() => queue.addWithOptions({ priority: Number.NaN }, "a")).toThrow("the priority of a is not a number");
  expect(queue.length).toBe(0);
});

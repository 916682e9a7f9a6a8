import { getEventListeners } from "node:events";

import { SimulatedClock } from "@kubewright/clock";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { WorkQueue } from "./work-queue.js";

function newQueue(): WorkQueue<string> {
  return new WorkQueue<string>({ clock: new SimulatedClock() });
}

test("items added twice are handed out once, in order of arrival", async () => {
  const queue = newQueue();
  queue.add("a");
  queue.add("a");
  queue.add("b");
  expect(queue.length).toBe(2);
  expect(await queue.get()).toBe("a");
  expect(await queue.get()).toBe("b");
  expect(queue.length).toBe(0);
});

test("any number of adds during processing cause one more run, queued when it is done", async () => {
  const queue = newQueue();
  queue.add("a");
  expect(await queue.get()).toBe("a");
  queue.add("a");
  queue.add("a");
  queue.add("a");
  expect(queue.length).toBe(0);
  queue.done("a");
  expect(queue.length).toBe(1);
  expect(await queue.get()).toBe("a");
  queue.done("a");
  expect(queue.length).toBe(0);
});

test("an item added again goes to the tail", async () => {
  const queue = newQueue();
  queue.add("a");
  await queue.get();
  queue.add("b");
  queue.add("a");
  queue.done("a");
  expect(await queue.get()).toBe("b");
  expect(await queue.get()).toBe("a");
});

test("waiting getters are served in order, one per item", async () => {
  const queue = newQueue();
  const served: string[] = [];
  void queue.get().then((item) => served.push(`first ${item}`));
  void queue.get().then((item) => served.push(`second ${item}`));
  queue.add("a");
  await settled();
  expect(served).toEqual(["first a"]);
  queue.add("b");
  await settled();
  expect(served).toEqual(["first a", "second b"]);
});

test("an item handed to a waiting getter is in processing before the getter continues", async () => {
  const queue = newQueue();
  const first = queue.get();
  queue.add("a");
  queue.add("a");
  expect(queue.length).toBe(0);
  expect(await first).toBe("a");
  queue.done("a");
  expect(queue.length).toBe(1);
});

test("two workers never process one key at the same time", async () => {
  const clock = new SimulatedClock();
  const queue = new WorkQueue<string>({ clock });
  const busy = new Set<string>();
  let runs = 0;
  const worker = async (): Promise<void> => {
    for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
      expect(busy.has(key)).toBe(false);
      busy.add(key);
      runs++;
      if (runs < 20) queue.add(key);
      await clock.sleep(1);
      busy.delete(key);
      queue.done(key);
    }
  };
  const workers = [worker(), worker()];
  queue.add("a");
  queue.add("b");
  await clock.advance(100);
  expect(runs).toBe(21);
  queue.shutDown();
  await Promise.all(workers);
});

test("after shutdown what is queued is still handed out, and adds are ignored", async () => {
  const queue = newQueue();
  queue.add("a");
  queue.add("b");
  queue.shutDown();
  queue.shutDown();
  queue.add("c");
  expect(queue.shuttingDown).toBe(true);
  expect([await queue.get(), await queue.get(), await queue.get()]).toEqual(["a", "b", undefined]);
});

test("an add during processing counts if it came before shutdown, not after", async () => {
  const before = newQueue();
  before.add("a");
  await before.get();
  before.add("a");
  before.shutDown();
  before.done("a");
  expect([await before.get(), await before.get()]).toEqual(["a", undefined]);

  const after = newQueue();
  after.add("a");
  await after.get();
  after.shutDown();
  after.add("a");
  after.done("a");
  expect(await after.get()).toBeUndefined();
});

test("shutdown releases every waiting getter", async () => {
  const queue = newQueue();
  const waiting = [queue.get(), queue.get(new AbortController().signal)];
  queue.shutDown();
  expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
});

test("a drain waits for what is in processing, or for a plain shutdown", async () => {
  for (const release of ["done", "shutDown"] as const) {
    const queue = newQueue();
    queue.add("a");
    await queue.get();
    let drained = false;
    const drain = queue.shutDownWithDrain().then(() => (drained = true));
    await settled();
    expect(drained).toBe(false);
    if (release === "done") queue.done("a");
    else queue.shutDown();
    await drain;
    expect(drained).toBe(true);
  }
});

test("a drain with nothing in processing resolves at once, also after shutdown and with items queued", async () => {
  const queue = newQueue();
  queue.add("a");
  queue.shutDown();
  await queue.shutDownWithDrain();
  expect(await queue.get()).toBe("a");
});

test("an aborted get rejects with the signal's reason and takes nothing", async () => {
  const queue = newQueue();
  const controller = new AbortController();
  const reason = new Error("stop");
  const aborted = queue.get(controller.signal);
  const waiting = queue.get();
  controller.abort(reason);
  await expect(aborted).rejects.toBe(reason);
  queue.add("a");
  expect(await waiting).toBe("a");
  queue.add("b");
  await expect(queue.get(controller.signal)).rejects.toBe(reason);
  expect(await queue.get()).toBe("b");
});

test("an abort after the item was handed over changes nothing", async () => {
  const queue = newQueue();
  const controller = new AbortController();
  const next = queue.get(controller.signal);
  queue.add("a");
  controller.abort(new Error("too late"));
  expect(await next).toBe("a");
});

test("waiting leaves nothing on the signal, however it ends", async () => {
  const queue = newQueue();
  const { signal } = new AbortController();
  for (let round = 0; round < 3; round++) {
    const next = queue.get(signal);
    expect(getEventListeners(signal, "abort").length).toBe(1);
    queue.add("a");
    queue.done((await next)!);
    expect(getEventListeners(signal, "abort").length).toBe(0);
  }
  const last = queue.get(signal);
  queue.shutDown();
  await last;
  expect(getEventListeners(signal, "abort").length).toBe(0);
});

test("done for an item that was not handed out is ignored", async () => {
  const queue = newQueue();
  queue.done("never added");
  queue.add("a");
  queue.done("a");
  expect(queue.length).toBe(1);
  expect(await queue.get()).toBe("a");
  queue.done("a");
  queue.done("a");
  expect(queue.length).toBe(0);
});

test("a long queue keeps its order through filling and draining", async () => {
  const queue = new WorkQueue<number>({ clock: new SimulatedClock() });
  let added = 0;
  let expected = 0;
  for (let round = 0; round < 6; round++) {
    for (let count = 0; count < 3000; count++) queue.add(added++);
    for (let count = 0; count < 2000 + round * 200; count++) {
      const item = (await queue.get())!;
      expect(item).toBe(expected++);
      queue.done(item);
    }
  }
  expect(queue.length).toBe(added - expected);
});

test("for any calls, the queue agrees with a plain model of it", async () => {
  const item = fc.constantFrom("a", "b", "c");
  const call = fc.oneof(
    fc.record({ type: fc.constant("add" as const), item }),
    fc.record({ type: fc.constant("done" as const), item }),
    fc.record({ type: fc.constant("get" as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 40 }), async (calls) => {
      const queue = newQueue();
      const fifo: string[] = [];
      const processing = new Set<string>();
      const dirty = new Set<string>();
      const got: string[] = [];
      const expected: string[] = [];
      for (const step of calls) {
        if (step.type === "add") {
          queue.add(step.item);
          if (!dirty.has(step.item)) {
            dirty.add(step.item);
            if (!processing.has(step.item)) fifo.push(step.item);
          }
        } else if (step.type === "get") {
          if (fifo.length === 0) continue;
          const next = fifo.shift()!;
          processing.add(next);
          dirty.delete(next);
          expected.push(next);
          got.push((await queue.get())!);
        } else {
          queue.done(step.item);
          if (processing.delete(step.item) && dirty.has(step.item)) fifo.push(step.item);
        }
        expect(queue.length).toBe(fifo.length);
      }
      expect(got).toEqual(expected);
    }),
  );
});

/** Lets promises that are ready run. */
async function settled(): Promise<void> {
  await new SimulatedClock().settle();
}

test("only a pending get or drain keeps the process alive", async () => {
  const clock = new SimulatedClock();
  const queue = new WorkQueue<string>({ clock });
  queue.add("a");
  expect(await queue.get()).toBe("a");
  expect(clock.keepAliveCount).toBe(0);
  const stop = new AbortController();
  const first = queue.get();
  const second = queue.get(stop.signal);
  expect(clock.keepAliveCount).toBe(1);
  queue.add("b");
  expect(await first).toBe("b");
  expect(clock.keepAliveCount).toBe(1);
  stop.abort(new Error("no more"));
  await expect(second).rejects.toThrow("no more");
  expect(clock.keepAliveCount).toBe(0);
  const third = queue.get();
  expect(clock.keepAliveCount).toBe(1);
  const drained = queue.shutDownWithDrain();
  expect(await third).toBeUndefined();
  expect(clock.keepAliveCount).toBe(1);
  queue.done("a");
  queue.done("b");
  await drained;
  expect(clock.keepAliveCount).toBe(0);
});

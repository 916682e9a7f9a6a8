import { SimulatedClock } from "@kubewright/clock";
import { expect, test, vi } from "vitest";

import { DelayingQueue } from "./delaying-queue.js";
import type { QueueMetrics, QueueMetricsProvider } from "./queue-metrics.js";

class RecordedMetrics implements QueueMetrics, QueueMetricsProvider {
  readonly names: string[] = [];
  readonly queueDurations: number[] = [];
  readonly workDurations: number[] = [];
  depth = 0;
  adds = 0;
  retries = 0;
  unfinished: number | undefined;
  longest: number | undefined;

  forQueue(name: string): QueueMetrics {
    this.names.push(name);
    return this;
  }
  setDepth(items: number): void {
    this.depth = items;
  }
  countAdd(): void {
    this.adds++;
  }
  observeQueueDuration(seconds: number): void {
    this.queueDurations.push(seconds);
  }
  observeWorkDuration(seconds: number): void {
    this.workDurations.push(seconds);
  }
  setUnfinishedWork(seconds: number): void {
    this.unfinished = seconds;
  }
  setLongestRunningProcessor(seconds: number): void {
    this.longest = seconds;
  }
  countRetry(): void {
    this.retries++;
  }
}

function measuredQueue() {
  const clock = new SimulatedClock();
  const metrics = new RecordedMetrics();
  return { clock, metrics, queue: new DelayingQueue<string>({ clock, metrics, name: "job" }) };
}

test("adds count items that were new, depth those still to be processed", async () => {
  const { queue, metrics } = measuredQueue();
  queue.add("a");
  queue.add("a");
  queue.add("b");
  expect(metrics).toMatchObject({ adds: 2, depth: 2 });
  await queue.get();
  expect(metrics.depth).toBe(1);
  queue.add("a");
  queue.add("a");
  expect(metrics).toMatchObject({ adds: 3, depth: 2 });
  expect(queue.length).toBe(1);
  queue.done("a");
  expect(metrics.depth).toBe(2);
  await queue.get();
  await queue.get();
  expect(metrics.depth).toBe(0);
  queue.shutDown();
  queue.add("c");
  expect(metrics).toMatchObject({ adds: 3, depth: 0 });
});

test("retries count every addAfter before shutdown, with whatever delay", async () => {
  const { queue, metrics } = measuredQueue();
  queue.addAfter("a", 0);
  queue.addAfter("b", -5000);
  queue.addAfter("c", 5000);
  queue.addAfter("c", 9000);
  expect(metrics.retries).toBe(4);
  queue.shutDown();
  queue.addAfter("d", 1000);
  expect(metrics.retries).toBe(4);
});

test("an item's wait counts from when it became dirty, so that it includes the rest of a processing", async () => {
  const { clock, queue, metrics } = measuredQueue();
  queue.add("a");
  await clock.advance(2000);
  await queue.get();
  await clock.advance(1000);
  queue.add("a");
  await clock.advance(2000);
  queue.done("a");
  await clock.advance(500);
  await queue.get();
  expect(metrics.queueDurations).toEqual([2, 2.5]);
  expect(metrics.workDurations).toEqual([3]);
});

test("the ages of what is in processing are refreshed twice a second, until shutdown", async () => {
  const { clock, queue, metrics } = measuredQueue();
  queue.add("a");
  await queue.get();
  await clock.advance(6000);
  queue.add("b");
  await queue.get();
  await clock.advance(4000);
  expect(metrics).toMatchObject({ unfinished: 14, longest: 10 });
  queue.done("a");
  await clock.advance(1000);
  expect(metrics).toMatchObject({ unfinished: 5, longest: 5 });
  queue.shutDown();
  await clock.advance(5000);
  expect(metrics).toMatchObject({ unfinished: 5, longest: 5 });
  expect(clock.nextTimerInMs).toBeUndefined();
});

test("with nothing in processing the ages are zero and no timer runs", async () => {
  const { clock, queue, metrics } = measuredQueue();
  queue.add("a");
  await queue.get();
  expect(clock.pendingTimers).toBe(0);
  await clock.advance(700);
  queue.done("a");
  await clock.advance(1000);
  expect(metrics).toMatchObject({ unfinished: 0, longest: 0 });
  expect(clock.nextTimerInMs).toBeUndefined();
});

test("a queue without a name has no metrics", async () => {
  const metrics = new RecordedMetrics();
  const queue = new DelayingQueue<string>({ clock: new SimulatedClock(), metrics });
  queue.add("a");
  await queue.get();
  expect(metrics).toMatchObject({ names: [], adds: 0, depth: 0 });
});

test("metrics that throw are reported to standard error, and the queue continues", async () => {
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  try {
    const fail = (): never => {
      throw new Error("no registry");
    };
    const metrics = new Proxy({} as QueueMetrics, { get: () => fail });
    const clock = new SimulatedClock();
    const queue = new DelayingQueue<string>({ clock, name: "job", metrics: { forQueue: () => metrics } });
    queue.add("a");
    expect(await queue.get()).toBe("a");
    await clock.advance(5_000);
    queue.done("a");
    queue.addAfter("b", 1_000);
    await clock.advance(1_000);
    expect(await queue.get()).toBe("b");
    expect(error.mock.calls.map(([line]) => String(line).replace(/^.*workqueue\]/, ""))).toEqual([
      ' "Measuring a queue failed" err="Error: no registry"',
    ]);
  } finally {
    error.mockRestore();
  }
});

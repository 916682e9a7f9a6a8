import { type Job, type ObjectKey, type Pod, events, jobs, keyOf, pods } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { type Logger, SimulatedClock, seededRandom } from "@kubewright/clock";
import { InformerFactory } from "@kubewright/informer";
import { type QueueMetrics, lowPriority } from "@kubewright/workqueue";
import { expect, test } from "vitest";

import type { ControllerDeps } from "./controller-deps.js";
import { ControllerShell } from "./controller-shell.js";
import { discardEvents } from "./event-sink.js";
import { enqueueController, enqueueObject } from "./enqueue.js";
import { type Runnable, runInStages } from "./runnable.js";

function setUp(more: Partial<ControllerDeps> = {}) {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const { transport } = createApiServer({ clock, random: seededRandom(1), freeze: true });
  const client = new Client({ transport, clock });
  const log: string[] = [];
  const say = (text: string): void => void log.push(`${clock.monotonic() / 1000}s ${text}`);
  const logged = (fields: object, message: string): void =>
    say(Object.keys(fields).length === 0 ? message : `${message} ${JSON.stringify(fields)}`);
  const logger: Logger = { debug: () => undefined, info: logged, warn: logged, error: logged };
  const deps: ControllerDeps = { client, clock, random: seededRandom(2), logger, ...more };
  const createJob = (name: string) => {
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "x" }] } };
    return client.resource(jobs).create({ metadata: { namespace: "default", name }, spec: { template } });
  };
  const stop = new AbortController();
  const running = (runnable: Runnable): Promise<void> =>
    runnable.run(stop.signal).then(
      () => say("run returned"),
      (error: Error) => say(`run rejected: ${error.message}`),
    );
  return { clock, client, deps, log, say, createJob, stop, running };
}

test("a controller made of nothing but its dependencies fills its caches, reconciles and writes its events", async () => {
  const { clock, client, deps, log, say, createJob, stop, running } = setUp();
  await createJob("early");
  const shell = new ControllerShell(deps, { name: "greeter" });
  const informer = shell.informer(jobs);
  const queue = shell.addLoop({
    queue: "greetings",
    reconcile: async (key) => {
      const job = informer.store.get(key);
      say(`${key} ${job === undefined ? "is gone" : "is there"}`);
      if (job !== undefined) shell.events.event(job, jobs, "Normal", "Greeted", `Hello ${key}`);
    },
  });
  informer.addEventHandler(enqueueObject(queue));
  const done = running(shell);
  await clock.advance(1_000);
  await client.resource(jobs).delete("early", { namespace: "default", propagationPolicy: "Background" });
  await clock.advance(1_000);
  expect((await client.resource(events).list()).items).toMatchObject([
    { message: "Hello default/early", reportingComponent: "greeter" },
  ]);
  expect(clock.keepAliveCount).toBeGreaterThan(0);
  stop.abort();
  await clock.settle();
  await done;
  expect(log).toEqual([
    "0s Starting greeter",
    "0s default/early is there",
    "1s default/early is gone",
    "2s Shutting down greeter",
    "2s run returned",
  ]);
  expect({ timers: clock.pendingTimers, holds: clock.keepAliveCount }).toEqual({ timers: 0, holds: 0 });
});

test("it stops in order: no more keys, what is under way, what served it, its events", async () => {
  const { clock, client, deps, log, say, createJob, stop, running } = setUp();
  const shell = new ControllerShell(deps, {
    name: "slow",
    component: "slowcoach",
    logMessages: { starting: "Starting slow controller", stopped: "Shutting down slow controller", fields: { a: 1 } },
  });
  const informer = shell.informer(jobs);
  const queue = shell.addLoop({
    queue: "slow",
    reconcile: async (key) => {
      say(`begins ${key}`);
      await clock.sleep(3_000);
      shell.events.event(informer.store.get(key)!, jobs, "Normal", "Done", `ended ${key}`);
      say(`ends ${key}`);
    },
  });
  informer.addEventHandler(enqueueObject(queue));
  shell.addWork({
    description: "tidying",
    run: async (signal) => {
      await clock.sleep(60_000, signal).catch(() => undefined);
      await clock.sleep(1_000);
      say("tidied");
    },
  });
  shell.addSupport({
    name: "served",
    run: (signal) =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => {
          say("support ends");
          resolve();
        }),
      ),
  });
  shell.onStopped(() => say("let go"));
  const done = running(shell);
  await createJob("one");
  await createJob("two");
  await clock.advance(1_000);
  stop.abort();
  await clock.advance(10_000);
  await done;
  expect(log).toEqual([
    '0s Starting slow controller {"a":1}',
    "0s begins default/one",
    "2s tidied",
    "3s ends default/one",
    "3s support ends",
    "3s let go",
    '3s Shutting down slow controller {"a":1}',
    "3s run returned",
  ]);
  const { items } = await client.resource(events).list();
  expect(items.map(({ message, source }) => `${source?.component}: ${message}`)).toEqual([
    "slowcoach: ended default/one",
  ]);
});

test("shared caches are not run by it, but waited for by name", async () => {
  const { clock, client, deps, log, say, stop, running } = setUp();
  const informers = new InformerFactory({ client, clock, random: seededRandom(3) });
  const shell = new ControllerShell({ ...deps, informers }, { name: "patient" });
  shell.informer(jobs);
  // A cache of another controller, which this one does not wait for.
  informers.informerFor(pods).waitForSync = () => new Promise(() => undefined);
  const queue = shell.addLoop({ queue: "patient", reconcile: async (key) => say(key) });
  queue.add("default/a" as ObjectKey);
  const done = running(shell);
  await clock.advance(5_000);
  expect(log).toEqual(["0s Starting patient"]);
  const caches = runInStages([[informers]], stop.signal);
  await clock.advance(1_000);
  expect(log.at(-1)).toBe("5s default/a");
  stop.abort();
  await Promise.all([done, caches]);
});

test("a loop of priorities takes what is urgent first, and retries it before the rest", async () => {
  const { clock, deps, log, say, stop, running } = setUp();
  const shell = new ControllerShell(deps, { name: "picky" });
  let failures = 1;
  const queue = shell.addPriorityLoop({
    queue: "picky",
    reconcile: async (key) => {
      say(key);
      if (key === "default/urgent" && failures-- > 0) throw new Error("not yet");
      await clock.sleep(10);
    },
  });
  for (const key of ["default/a", "default/b"]) queue.addWithOptions({ priority: lowPriority }, key as ObjectKey);
  queue.add("default/urgent" as ObjectKey);
  const done = running(shell);
  await clock.advance(1_000);
  const keys = log.filter((line) => /s default/.test(line)).map((line) => line.split(" ").at(-1));
  expect(keys).toEqual(["default/urgent", "default/a", "default/urgent", "default/b"]);
  stop.abort();
  await done;
});

test("work that does not end is given up after stopTimeoutMs and named, and what is recorded is written all the same", async () => {
  const { clock, client, deps, log, createJob, stop, running } = setUp({ stopTimeoutMs: 2_000 });
  const job = await createJob("a");
  const shell = new ControllerShell(deps, { name: "stuck" });
  shell.addWork({ description: "a pass", run: () => new Promise(() => undefined) });
  const done = running(shell);
  await clock.advance(1_000);
  shell.events.event(job, jobs, "Normal", "Last", "last words");
  stop.abort();
  await clock.advance(5_000);
  await done;
  const late = "stuck: a pass did not end within 2 s of the stop signal";
  expect(log).toEqual([
    "0s Starting stuck",
    `3s ${late} {"controller":"stuck"}`,
    "3s Shutting down stuck",
    `3s run rejected: ${late}`,
  ]);
  expect((await client.resource(events).list()).items).toHaveLength(1);
});

test("work that fails stops the rest, and says so also when it is logged to be shut down", async () => {
  const { clock, deps, log, running } = setUp();
  const shell = new ControllerShell(deps, { name: "broken" });
  shell.addLoop({ queue: "broken", reconcile: async () => undefined });
  shell.addWork({ description: "failing", run: () => Promise.reject(new Error("out of luck")) });
  const done = running(shell);
  await clock.advance(1_000);
  await done;
  expect(log).toEqual(["0s Starting broken", "0s Shutting down broken", "0s run rejected: out of luck"]);
});

test("it keeps the process alive, whatever it is made of", async () => {
  const { clock, client, deps, stop, running } = setUp();
  const informers = new InformerFactory({ client, clock, random: seededRandom(3) });
  const shell = new ControllerShell({ ...deps, informers, events: discardEvents }, { name: "quiet" });
  shell.addWork({ description: "waiting", run: (signal) => clock.sleep(60_000, signal, { background: true }) });
  const done = running(shell);
  await clock.settle();
  expect(clock.keepAliveCount).toBe(1);
  stop.abort();
  await done;
  expect(clock.keepAliveCount).toBe(0);
});

test("it runs once, and nothing is added to it while it runs", async () => {
  const { clock, deps, stop } = setUp();
  const shell = new ControllerShell(deps, { name: "once" });
  const done = shell.run(stop.signal);
  await clock.settle();
  const refusal = "once was run already: make a new one";
  await expect(shell.run(stop.signal)).rejects.toThrow(refusal);
  expect(() => shell.addLoop({ queue: "late", reconcile: async () => undefined })).toThrow(refusal);
  expect(() => shell.addWork({ description: "late", run: async () => undefined })).toThrow(refusal);
  expect(() => shell.addSupport({ name: "late", run: async () => undefined })).toThrow(refusal);
  stop.abort();
  await done;
});

test("its queues are measured under their names", () => {
  const names: string[] = [];
  const { deps } = setUp({
    queueMetrics: { forQueue: (name) => (names.push(name), noMetrics) },
  });
  const shell = new ControllerShell(deps, { name: "measured" });
  shell.addLoop({ queue: "first", reconcile: async () => undefined });
  shell.addLoop<`tag:${string}`>({ queue: "second", reconcile: async () => undefined }).add("tag:a");
  expect(names).toEqual(["first", "second"]);
  expect(() => shell.addLoop({ queue: "none", workers: 0, reconcile: async () => undefined })).toThrow(RangeError);
});

const noMetrics: QueueMetrics = {
  setDepth: () => undefined,
  countAdd: () => undefined,
  observeQueueDuration: () => undefined,
  observeWorkDuration: () => undefined,
  setUnfinishedWork: () => undefined,
  setLongestRunningProcessor: () => undefined,
  countRetry: () => undefined,
};

function owned(name: string, owner?: { name: string; uid: string; apiVersion?: string; kind?: string }): Pod {
  const { apiVersion = "batch/v1", kind = "Job", ...rest } = owner ?? { name: "", uid: "" };
  const ownerReferences = owner === undefined ? [] : [{ apiVersion, kind, controller: true, ...rest }];
  return { metadata: { name, namespace: "ns", ownerReferences } };
}

test("an object's controller is enqueued, whatever its version, and both of one that changes hands", () => {
  const keys: string[] = [];
  const handler = enqueueController<Pod>({ add: (key) => void keys.push(key) }, jobs);
  const taken = (): string[] => keys.splice(0);
  handler.onAdd!(owned("p", { name: "a", uid: "1" }), false);
  handler.onAdd!(owned("p", { name: "b", uid: "2", apiVersion: "batch/v2" }), false);
  expect(taken()).toEqual(["ns/a", "ns/b"]);
  handler.onAdd!(owned("p"), false);
  handler.onAdd!(owned("p", { name: "a", uid: "1", kind: "CronJob" }), false);
  handler.onAdd!(owned("p", { name: "a", uid: "1", apiVersion: "example.com/v1" }), false);
  expect(taken()).toEqual([]);
  handler.onUpdate!(owned("p", { name: "a", uid: "1" }), owned("p", { name: "a", uid: "1" }));
  expect(taken()).toEqual(["ns/a"]);
  handler.onUpdate!(owned("p", { name: "a", uid: "1" }), owned("p", { name: "a", uid: "3" }));
  handler.onUpdate!(owned("p", { name: "a", uid: "1" }), owned("p"));
  expect(taken()).toEqual(["ns/a", "ns/a", "ns/a"]);
  handler.onDelete!(owned("p", { name: "a", uid: "1" }));
  expect(taken()).toEqual(["ns/a"]);
});

test("an object is enqueued when it comes, changes and goes", () => {
  const keys: string[] = [];
  const handler = enqueueObject<Job>({ add: (key) => void keys.push(key) });
  const job = (name: string): Job => ({ metadata: { name, namespace: "ns" } });
  handler.onAdd!(job("a"), true);
  handler.onUpdate!(job("b"), job("b"));
  handler.onDelete!(job("c"));
  expect(keys).toEqual([keyOf(job("a")), keyOf(job("b")), keyOf(job("c"))]);
});

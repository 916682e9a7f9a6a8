import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { MessageChannel } from "node:worker_threads";

import { NEWEST_VERSION } from "@kubewright/api";
import { expect, onTestFinished, test } from "vitest";

import { kubewright } from "../../test/memory-io.js";
import { runTask } from "./future-worker.js";
import { type FuturePlan, inThisThread, simulateSeeds } from "@kubewright/analysis/futures";

const tick = {
  apiVersion: "batch/v1",
  kind: "CronJob",
  metadata: { name: "tick" },
  spec: {
    schedule: "0 0 * * *",
    jobTemplate: { spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } } },
  },
};

const plan: FuturePlan = {
  manifests: [{ object: tick, source: "tick.yaml" }],
  startMs: 0,
  durationMs: 1_000 * 3_600_000,
  kubernetesVersion: NEWEST_VERSION,
  timeZoneData: "test",
  validate: "strict",
  strict: false,
  incidents: [],
  selections: [],
  nodeSizes: [],
};

const signal = new AbortController().signal;

test("within a long future its virtual time moves the progress, in a hundred steps", async () => {
  const progress: number[] = [];
  let done = 0;
  await simulateSeeds([1, 2], {
    workers: inThisThread,
    signal,
    simulate: (seed, onProgress) => inThisThread.simulate(plan, seed, onProgress),
    onSimulated: () => done++,
    onProgress: (underWay) => progress.push(done + underWay),
  });
  expect(progress).toEqual([...progress].sort((a, b) => a - b));
  expect(progress.length).toBe(202);
  expect(progress.slice(0, 3)).toEqual([0.01, 0.02, 0.03]);
  expect(progress.at(-1)).toBe(2);
});

test("the progress of several runs is added up, and late progress is ignored", async () => {
  const progress: number[] = [];
  const received = new Map<number, (share: number) => void>();
  await simulateSeeds([1, 2, 3], {
    workers: { count: 2 },
    signal,
    simulate: async (seed, onProgress) => {
      received.set(seed, onProgress!);
      const future = await inThisThread.simulate({ ...plan, durationMs: 1000 }, seed);
      onProgress!(0.5);
      return future;
    },
    onSimulated: (_, seed) => received.get(seed)!(0.9),
    onProgress: (underWay) => progress.push(underWay),
  });
  const before = progress.length;
  received.get(2)!(0.7);
  expect(progress).toHaveLength(before);
  expect(Math.max(...progress)).toBeLessThanOrEqual(1);
  expect(progress.at(-1)).toBe(0);
});

test("no result stays in memory once the next run starts, and an unfinished run does not delay a stop", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const kept: WeakRef<object>[] = [];
  const stop = new AbortController();
  const ended = simulateSeeds([1, 2, 3, 4], {
    workers: { count: 1 },
    signal: stop.signal,
    simulate: async (seed) => (seed < 4 ? { seed } : new Promise<never>(() => {})),
    onSimulated: (simulated) => kept.push(new WeakRef(simulated)),
  });
  for (let turns = 0; kept.length < 3 && turns < 1000; turns++) await setImmediate();
  await setImmediate();
  collect();
  expect(kept.slice(0, -1).map((simulated) => simulated.deref())).toEqual([undefined, undefined]);
  stop.abort();
  expect(await ended).toBe(false);
});

test("a future that fails ends it all", async () => {
  const failing = simulateSeeds([1, 2], {
    workers: { count: 2 },
    signal,
    simulate: async (seed) => (seed === 1 ? { seed } : Promise.reject(new Error("broken"))),
    onSimulated: () => {},
  });
  await expect(failing).rejects.toThrow("broken");
});

test("a thread reports its progress through a port, if there is one", async () => {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const progress: unknown[] = [];
  port1.on("message", (share) => progress.push(share));
  await runTask({ plan: { ...plan, durationMs: 4 * 3_600_000 }, seed: 1, port: port2 });
  for (let turns = 0; progress.length < 4 && turns < 1000; turns++) await setImmediate();
  expect(progress).toEqual([0.25, 0.5, 0.75, 1]);
  expect((await runTask({ plan: { ...plan, durationMs: 1000 }, seed: 1 })).seed).toBe(1);
});

test("the bar of the command moves before the first future is done", async () => {
  const shown: [number, string][] = [];
  const progress = { show: (share: number, text: string) => void shown.push([share, text]), clear: () => {} };
  const files = { "tick.json": JSON.stringify(tick) };
  const { code } = await kubewright(["run", "tick.json", "--for", "4h", "--seeds", "1-2"], {
    files,
    progress: async () => progress,
  });
  expect(code).toBe(0);
  expect(shown.filter(([, text]) => text === "0 of 2 futures").map(([share]) => share)).toEqual([
    0, 0.125, 0.25, 0.375, 0.5,
  ]);
  expect(shown.at(-1)).toEqual([1, "2 of 2 futures"]);
});

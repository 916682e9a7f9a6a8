import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { MessageChannel } from "node:worker_threads";

import { NEWEST_VERSION } from "@kubewright/api";
import { expect, onTestFinished, test } from "vitest";

import { kubewright } from "../../test/memory-io.js";
import { playTask } from "../future-worker.js";
import type { FuturePlan } from "./play-future.js";
import { inThisThread, playFutures } from "./play-futures.js";

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
  mishaps: [],
  selections: [],
  nodeSizes: [],
};

const signal = new AbortController().signal;

test("within a long future its virtual time moves the progress, in a hundred steps", async () => {
  const told: number[] = [];
  let done = 0;
  await playFutures([1, 2], {
    workers: inThisThread,
    signal,
    play: (seed, hear) => inThisThread.play(plan, seed, hear),
    onPlayed: () => done++,
    onProgress: (underWay) => told.push(done + underWay),
  });
  expect(told).toEqual([...told].sort((a, b) => a - b));
  expect(told.length).toBe(202);
  expect(told.slice(0, 3)).toEqual([0.01, 0.02, 0.03]);
  expect(told.at(-1)).toBe(2);
});

test("several under way are added up, and what is told too late is not heard", async () => {
  const told: number[] = [];
  const heard = new Map<number, (share: number) => void>();
  await playFutures([1, 2, 3], {
    workers: { count: 2 },
    signal,
    play: async (seed, hear) => {
      heard.set(seed, hear!);
      const future = await inThisThread.play({ ...plan, durationMs: 1000 }, seed);
      hear!(0.5);
      return future;
    },
    onPlayed: (_, seed) => heard.get(seed)!(0.9),
    onProgress: (underWay) => told.push(underWay),
  });
  const before = told.length;
  heard.get(2)!(0.7);
  expect(told).toHaveLength(before);
  expect(Math.max(...told)).toBeLessThanOrEqual(1);
  expect(told.at(-1)).toBe(0);
});

test("nothing of a future is kept once the next is under way, and one that is under way does not keep it from stopping", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const kept: WeakRef<object>[] = [];
  const stop = new AbortController();
  const ended = playFutures([1, 2, 3, 4], {
    workers: { count: 1 },
    signal: stop.signal,
    play: async (seed) => (seed < 4 ? { seed } : new Promise<never>(() => {})),
    onPlayed: (played) => kept.push(new WeakRef(played)),
  });
  for (let turns = 0; kept.length < 3 && turns < 1000; turns++) await setImmediate();
  await setImmediate();
  collect();
  expect(kept.slice(0, -1).map((played) => played.deref())).toEqual([undefined, undefined]);
  stop.abort();
  expect(await ended).toBe(false);
});

test("a future that fails ends it all", async () => {
  const failing = playFutures([1, 2], {
    workers: { count: 2 },
    signal,
    play: async (seed) => (seed === 1 ? { seed } : Promise.reject(new Error("broken"))),
    onPlayed: () => {},
  });
  await expect(failing).rejects.toThrow("broken");
});

test("a thread tells of its progress through a port, and without one of nothing", async () => {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const told: unknown[] = [];
  port1.on("message", (share) => told.push(share));
  await playTask({ plan: { ...plan, durationMs: 4 * 3_600_000 }, seed: 1, port: port2 });
  for (let turns = 0; told.length < 4 && turns < 1000; turns++) await setImmediate();
  expect(told).toEqual([0.25, 0.5, 0.75, 1]);
  expect((await playTask({ plan: { ...plan, durationMs: 1000 }, seed: 1 })).seed).toBe(1);
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

import { expect, test } from "vitest";

import { type Runnable, runAll, runInStages } from "./runnable.js";

function runnable(name: string, log: string[], end?: (signal: AbortSignal) => Promise<void>): Runnable {
  return {
    name,
    async run(signal) {
      await (end?.(signal) ?? untilAborted(signal));
      log.push(`${name} ended`);
    },
  };
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve())));
}

test("runAll resolves when all have stopped after the signal aborted", async () => {
  const log: string[] = [];
  const stop = new AbortController();
  const running = runAll([runnable("a", log), runnable("b", log)], stop.signal);
  await Promise.resolve();
  expect(log).toEqual([]);
  stop.abort();
  await running;
  expect(log).toEqual(["a ended", "b ended"]);
});

test("runAll lets the others run when one ends by itself", async () => {
  const log: string[] = [];
  const stop = new AbortController();
  const running = runAll([runnable("short", log, () => Promise.resolve()), runnable("long", log)], stop.signal);
  await new Promise(setImmediate);
  expect(log).toEqual(["short ended"]);
  stop.abort();
  await running;
  expect(log).toEqual(["short ended", "long ended"]);
});

test("runAll stops the others when one rejects, and rejects with its error after they have ended", async () => {
  const log: string[] = [];
  const broken = runnable("broken", log, () => Promise.reject(new Error("no disk")));
  await expect(runAll([runnable("other", log), broken], new AbortController().signal)).rejects.toThrow("no disk");
  expect(log).toEqual(["other ended"]);
});

test("runAll hands an aborted signal on", async () => {
  const log: string[] = [];
  await runAll([runnable("a", log)], AbortSignal.abort());
  expect(log).toEqual(["a ended"]);
});

test("runInStages stops each group when the one before has ended", async () => {
  const log: string[] = [];
  const stop = new AbortController();
  const slow = runnable("controller", log, async (signal) => {
    await untilAborted(signal);
    await new Promise(setImmediate);
  });
  const running = runInStages([[slow], [runnable("events", log)], [runnable("informers", log)]], stop.signal);
  await new Promise(setImmediate);
  expect(log).toEqual([]);
  stop.abort();
  await running;
  expect(log).toEqual(["controller ended", "events ended", "informers ended"]);
});

test("runInStages keeps that order when a later group fails, and rejects with its error", async () => {
  const log: string[] = [];
  const broken = runnable("broken", log, () => Promise.reject(new Error("no disk")));
  const stages = [[runnable("controller", log)], [broken, runnable("events", log)]];
  await expect(runInStages(stages, new AbortController().signal)).rejects.toThrow("no disk");
  expect(log.sort()).toEqual(["controller ended", "events ended"]);
});

test("runInStages resolves when everything ends by itself, and hands an aborted signal on", async () => {
  const log: string[] = [];
  await runInStages([[runnable("a", log, () => Promise.resolve())], []], new AbortController().signal);
  await runInStages([[runnable("b", log)]], AbortSignal.abort());
  expect(log).toEqual(["a ended", "b ended"]);
});

import { SimulatedClock } from "@kubewright/clock";
import { expect, test } from "vitest";

import { parallelizeUntil } from "./parallelize-until.js";

test("workers take chunks in order, and do the pieces of one chunk one after the other", async () => {
  const clock = new SimulatedClock();
  const log: string[] = [];
  const all = parallelizeUntil({ workers: 3, pieces: 10, chunkSize: 4 }, async (piece) => {
    log.push(`begin ${piece}`);
    await clock.sleep(1);
    log.push(`end ${piece}`);
  });
  await clock.advance(1);
  expect(log.slice(0, 3)).toEqual(["begin 0", "begin 4", "begin 8"]);
  await clock.advance(3);
  await all;
  expect(log.filter((line) => line.startsWith("begin")).length).toBe(10);
  expect(log.indexOf("end 0")).toBeLessThan(log.indexOf("begin 1"));
  expect(new Set(log).size).toBe(20);
});

test("no more pieces are under way than there are workers", async () => {
  const clock = new SimulatedClock();
  let running = 0;
  let most = 0;
  const all = parallelizeUntil({ workers: 4, pieces: 50 }, async () => {
    most = Math.max(most, ++running);
    await clock.sleep(1);
    running--;
  });
  await clock.advance(100);
  await all;
  expect(most).toBe(4);
});

test("once aborted, the rest of a chunk is not begun", async () => {
  const controller = new AbortController();
  const done: number[] = [];
  await parallelizeUntil({ workers: 1, pieces: 8, chunkSize: 4, signal: controller.signal }, (piece) => {
    done.push(piece);
    if (piece === 1) controller.abort();
  });
  expect(done).toEqual([0, 1]);
});

test("a piece that throws ends its worker; the others do the rest, then the error surfaces", async () => {
  const done: number[] = [];
  const failure = new Error("piece 0");
  const all = parallelizeUntil({ workers: 2, pieces: 6 }, async (piece) => {
    if (piece === 0) throw failure;
    await Promise.resolve();
    done.push(piece);
  });
  await expect(all).rejects.toBe(failure);
  expect(done).toEqual([1, 2, 3, 4, 5]);
});

test("no pieces, nothing to do", async () => {
  let calls = 0;
  await parallelizeUntil({ workers: 3, pieces: 0 }, () => void calls++);
  expect(calls).toBe(0);
});

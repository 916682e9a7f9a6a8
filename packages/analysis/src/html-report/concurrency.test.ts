import { expect, test } from "vitest";

import { Concurrency } from "./concurrency.js";

test("levels rise and fall, and each step has its peak", () => {
  const concurrency = new Concurrency();
  concurrency.add(0, "running", 1);
  concurrency.add(400, "running", 2);
  concurrency.add(900, "running", -3);
  concurrency.add(5_000, "waiting", 1);
  const { atMs, running, waiting } = concurrency.steps();
  expect(atMs).toEqual([0, 5_000]);
  expect(running.peak[0]).toBe(3);
  expect(running.last).toEqual([0, 0]);
  expect(waiting.last).toEqual([0, 1]);
});

test("a pod that starts when another ends causes no peak of two", () => {
  const concurrency = new Concurrency();
  concurrency.add(0, "running", 1);
  concurrency.add(10_000, "running", -1);
  concurrency.add(10_000, "running", 1);
  expect(Math.max(...concurrency.steps().running.peak)).toBe(1);
});

test("a long run takes bounded memory, and no peak is lost", () => {
  const concurrency = new Concurrency();
  for (let hour = 0; hour < 30_000; hour++) {
    const by = hour === 12_345 ? 50 : 3;
    concurrency.add(hour * 3_600_000, "running", by);
    concurrency.add(hour * 3_600_000 + 60_000, "running", -by);
  }
  const { atMs, running, stepMs } = concurrency.steps();
  expect(atMs.length).toBeLessThanOrEqual(20_000);
  expect(stepMs).toBeGreaterThan(1_000);
  expect(Math.max(...running.peak)).toBe(50);
  expect(atMs[running.peak.indexOf(50)]).toBe(Math.floor((12_345 * 3_600_000) / stepMs) * stepMs);
  expect(running.last.at(-1)).toBe(0);
});

import { SimulatedClock } from "@kubewright/clock";
import { expect, test } from "vitest";

import { ReviewCache } from "./review-cache.js";

test("holds as many as it may, those used last", async () => {
  const cache = new ReviewCache<string>({ clock: new SimulatedClock(), capacity: 3 });
  const asked: string[] = [];
  const get = (key: string): Promise<string> =>
    cache.get(key, async () => {
      asked.push(key);
      return { value: key, ttlMs: 1_000 };
    });
  for (const key of ["a", "b", "c", "a", "d", "a", "b"]) await get(key);
  expect(asked).toEqual(["a", "b", "c", "d", "b"]);
  for (let number = 0; number < 1_000; number++) await get(String(number));
  expect(cache.size).toBe(3);
});

test("a failed review is not cached, and fails every caller that waits for it", async () => {
  const cache = new ReviewCache<number>({ clock: new SimulatedClock() });
  let asked = 0;
  const failing = async (): Promise<never> => {
    asked++;
    throw new Error("down");
  };
  const both = await Promise.allSettled([cache.get("a", failing), cache.get("a", failing)]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(asked).toBe(1);
  expect(await cache.get("a", async () => ({ value: 7, ttlMs: 0 }))).toBe(7);
  expect(cache.size).toBe(0);
});

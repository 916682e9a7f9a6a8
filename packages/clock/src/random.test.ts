import { expect, test } from "vitest";

import { realRandom, seededRandom, uuid } from "./random.js";

const draw = (random: { uint32(): number }): number[] => Array.from({ length: 5 }, () => random.uint32());

test("equal seeds give equal sequences, other seeds others", () => {
  expect(draw(seededRandom(1))).toEqual(draw(seededRandom(1)));
  expect(draw(seededRandom(1))).not.toEqual(draw(seededRandom(2)));
});

test("next is in [0, 1) and spread over it", () => {
  const random = seededRandom(1);
  const values = Array.from({ length: 10_000 }, () => random.next());
  expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...values)).toBeLessThan(1);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  expect(mean).toBeGreaterThan(0.48);
  expect(mean).toBeLessThan(0.52);
});

test("the runtime's source never repeats the numbers that it has drawn at once", () => {
  const values = Array.from({ length: 2_000 }, () => realRandom.uint32());
  // Two of 2,000 random 32-bit numbers are equal in one run of 2,000.
  expect(new Set(values).size).toBeGreaterThan(1_990);
  expect(realRandom.fork("other").uint32()).not.toBe(realRandom.uint32());
});

test("a fork depends on seed and label only, not on what was drawn or forked before", () => {
  const fresh = seededRandom(7);
  const used = seededRandom(7);
  draw(used);
  used.fork("other");
  expect(draw(used.fork("pods"))).toEqual(draw(fresh.fork("pods")));
  expect(draw(fresh.fork("pods"))).not.toEqual(draw(fresh.fork("jobs")));
  expect(draw(fresh.fork("pods"))).not.toEqual(draw(seededRandom(8).fork("pods")));
});

test("nested forks differ from the fork of the joined label", () => {
  expect(draw(seededRandom(1).fork("a").fork("b"))).not.toEqual(draw(seededRandom(1).fork("ab")));
});

test("a uuid is of version 4 and does not repeat", () => {
  for (const random of [seededRandom(1), realRandom]) {
    const ids = Array.from({ length: 1_000 }, () => uuid(random));
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(ids).size).toBe(1_000);
  }
});

test("a seed gives the same UUIDs in every version", () => {
  const random = seededRandom(5);
  expect(uuid(random)).toBe("868c3daa-e361-47a5-8710-20aae1195079");
  expect(uuid(random)).toBe("1b121efe-3608-4b79-bb07-892a48fd0c9d");
});

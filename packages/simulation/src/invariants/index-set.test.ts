import { expect, it } from "vitest";

import { IndexSet } from "./index-set.js";

it("knows its indexes without spelling them out", () => {
  const set = new IndexSet("0,2-4,100000-199999");
  expect(set.size).toBe(100_004);
  expect([0, 1, 2, 4, 5, 150_000].map((index) => set.has(index))).toEqual([true, false, true, true, false, true]);
  expect(set.sizeBelow(4)).toBe(3);
  expect(set.countBelow(5, (index) => index % 2 === 0)).toBe(3);
  expect(new IndexSet(null).size).toBe(0);
});

it.each([
  ["0-3", "0-3", undefined],
  ["0-3", "0,1,3", 2],
  ["0-3", "", 0],
  ["2", "0-9", undefined],
  ["0-5", "0-3", 4],
])("finds what %s has and %s lacks: %s", (set, other, missing) => {
  expect(new IndexSet(set).firstMissingIn(new IndexSet(other))).toBe(missing);
});

it("does not look beyond its limit", () => {
  expect(new IndexSet("0-5").firstMissingIn(new IndexSet("0-3"), 4)).toBe(undefined);
});

it.each(["x", "3,1", "5-2"])("does not take %s for a set", (text) => {
  expect(() => new IndexSet(text)).toThrow(RangeError);
});

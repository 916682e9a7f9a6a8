import { assert, nat, property, uniqueArray } from "fast-check";
import { expect, test } from "vitest";

import {
  countCommonIndexes,
  countIndexes,
  formatIndexIntervals,
  hasIndex,
  indexIntervalsOf,
  mergeIndexIntervals,
  parseIndexIntervals,
} from "./index-intervals.js";

const indexes = (text: string, completions: number): number[] =>
  parseIndexIntervals(text, completions).flatMap(({ first, last }) =>
    Array.from({ length: last - first + 1 }, (_, offset) => first + offset),
  );

test.each([
  [[], ""],
  [[0], "0"],
  [[5, 6], "5,6"],
  [[0, 1, 2], "0-2"],
  [[5, 6, 7], "5-7"],
  [[1, 3, 4, 5, 7], "1,3-5,7"],
  [[0, 2, 3, 5, 6, 7], "0,2,3,5-7"],
])("the indexes %j are written as %j", (list, text) => {
  expect(formatIndexIntervals(indexIntervalsOf(list))).toBe(text);
});

test.each([
  ["", 6, []],
  ["0-2,x,5,6-8", 6, [0, 1, 2, 5]],
  ["4-9", 6, [4, 5]],
  ["1-", 6, []],
  ["-1", 6, []],
  ["0,1,2", 6, [0, 1, 2]],
  ["7,0", 6, []],
  ["3", 0, []],
  ["+1,02,-0", 6, [1, 2]],
  [" 1,0x2,1_0,1e0,3", 12, [3]],
  ["99999999999999999999,1-99999999999999999999,2", 6, [2]],
  ["9223372036854775807,2", 6, []],
  ["5,1", 6, [5, 1]],
  ["1-3,2", 6, [1, 2, 3, 2]],
  ["5-1,2", 6, [2]],
])("%j is read, with %d completions, as %j", (text, completions, list) => {
  expect(indexes(text, completions)).toEqual(list);
});

test("what a text has out of order is lost as soon as it is joined with other indexes, and found by luck", () => {
  const unordered = parseIndexIntervals("5,1", 6);
  expect(countIndexes(unordered)).toBe(2);
  expect(mergeIndexIntervals(unordered, [])).toEqual([{ first: 5, last: 5 }]);
  expect([1, 5].map((index) => hasIndex(unordered, index))).toEqual([false, false]);
  expect(countCommonIndexes(unordered, indexIntervalsOf([1, 5]))).toBe(1);
});

test("neighbours are joined, whether read, merged or collected", () => {
  expect(parseIndexIntervals("0,1,2-4", 9)).toEqual([{ first: 0, last: 4 }]);
  expect(mergeIndexIntervals(parseIndexIntervals("0,4-5", 9), parseIndexIntervals("1-3", 9))).toEqual([
    { first: 0, last: 5 },
  ]);
  expect(indexIntervalsOf([2, 0, 1, 1])).toEqual([{ first: 0, last: 2 }]);
});

test("sets of indexes behave like sets of numbers", () => {
  const sets = uniqueArray(nat({ max: 40 }));
  assert(
    property(sets, sets, (a, b) => {
      const union = new Set([...a, ...b]);
      const left = indexIntervalsOf(a);
      const right = indexIntervalsOf(b);
      const merged = mergeIndexIntervals(left, right);
      expect(merged).toEqual(indexIntervalsOf(union));
      expect(countIndexes(merged)).toBe(union.size);
      expect(countCommonIndexes(left, right)).toBe(a.length + b.length - union.size);
      for (let index = 0; index <= 41; index++) expect(hasIndex(merged, index)).toBe(union.has(index));
      expect(parseIndexIntervals(formatIndexIntervals(merged), 100)).toEqual(merged);
    }),
  );
});

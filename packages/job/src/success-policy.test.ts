import { expect, test } from "vitest";

import { indexIntervalsOf } from "./index-intervals.js";
import { matchSuccessPolicy } from "./success-policy.js";

type Rule = { succeededIndexes?: string; succeededCount?: number };
const match = (rules: Rule[], succeeded: number[], completions = 20) =>
  matchSuccessPolicy({ rules }, completions, indexIntervalsOf(succeeded));

test("a rule with indexes is met by all of them, or by as many as it counts", () => {
  expect(match([{ succeededIndexes: "0-2" }], [0, 1, 2, 7])).toBe(0);
  expect(match([{ succeededIndexes: "0-2" }], [0, 1, 7])).toBeUndefined();
  expect(match([{ succeededIndexes: "0-9", succeededCount: 2 }], [3, 7])).toBe(0);
  expect(match([{ succeededIndexes: "0-9", succeededCount: 2 }], [3, 11])).toBeUndefined();
});

test("a rule with only a count is met by any indexes", () => {
  expect(match([{ succeededCount: 2 }], [4, 9])).toBe(0);
  expect(match([{ succeededCount: 2 }], [4])).toBeUndefined();
});

test("the first rule that is met wins, and one that cannot be read is passed over", () => {
  expect(match([{ succeededIndexes: "5" }, { succeededIndexes: "2" }], [2])).toBe(1);
  expect(match([{ succeededIndexes: "x" }, { succeededIndexes: "30" }], [2])).toBeUndefined();
});

test("a rule whose indexes are out of order is met by its count only", () => {
  expect(match([{ succeededIndexes: "5,1" }], [5])).toBeUndefined();
  expect(match([{ succeededIndexes: "5,1" }], [1, 5])).toBeUndefined();
  expect(match([{ succeededIndexes: "5,1", succeededCount: 1 }], [1, 5])).toBe(0);
});

test("without a policy, or a succeeded index, nothing is met", () => {
  expect(matchSuccessPolicy(undefined, 5, indexIntervalsOf([1]))).toBeUndefined();
  expect(match([{ succeededCount: 0 }], [])).toBeUndefined();
  expect(matchSuccessPolicy({} as { rules: Rule[] }, 5, indexIntervalsOf([1]))).toBeUndefined();
});

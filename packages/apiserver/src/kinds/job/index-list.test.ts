import { expect, test } from "vitest";

import { firstCommonIndex, parseIndexList } from "./index-list.js";

test("numbers and intervals are counted", () => {
  expect(parseIndexList("0,2-4,9", 10)).toEqual({ count: 5 });
  expect(parseIndexList("", 10)).toEqual({ count: 0 });
});

test.each([
  [
    "1-2-3",
    `the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by '-'`,
  ],
  ["a", `cannot convert string to integer for index: "a"`],
  ["0,,1", `cannot convert string to integer for index: ""`],
  ["5", `too large index: "5"`],
  ["0-5", `too large index: "5"`],
  ["3,1", "non-increasing order, previous: 3, current: 1"],
  ["1-1", "non-increasing order, previous: 1, current: 1"],
  ["0-2,1", "non-increasing order, previous: 2, current: 1"],
])("the list %s is refused", (text, error) => {
  expect(parseIndexList(text, 5)).toEqual({ error });
});

test("the first index that two lists share is found inside intervals", () => {
  expect(firstCommonIndex("0-2,7", "2,7", 10)).toBe(2);
  expect(firstCommonIndex("0-2", "3-5", 10)).toBeUndefined();
  expect(firstCommonIndex("nonsense", "0", 10)).toBeUndefined();
});

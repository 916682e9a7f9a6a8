import { expect, test } from "vitest";

import { humanDuration } from "./human-duration.js";

const DAY = 86400;
const YEAR = 365 * DAY;

test.each([
  [-2, "<invalid>"],
  [-1, "0s"],
  [0, "0s"],
  [119, "119s"],
  [120, "2m"],
  [121, "2m1s"],
  [599, "9m59s"],
  [600, "10m"],
  [10799, "179m"],
  [10800, "3h"],
  [28799, "7h59m"],
  [28800, "8h"],
  [8.5 * 3600, "8h"],
  [172799, "47h"],
  [172800, "2d"],
  [49 * 3600, "2d1h"],
  [691199, "7d23h"],
  [691200, "8d"],
  [2 * YEAR - 1, "729d"],
  [2 * YEAR, "2y"],
  [2 * YEAR + 3 * DAY, "2y3d"],
  [8 * YEAR - 1, "7y364d"],
  [8 * YEAR, "8y"],
])("%d seconds read %s", (seconds, text) => {
  expect(humanDuration(seconds * 1000)).toBe(text);
});

test("a fraction of a second is cut off", () => {
  expect(humanDuration(-1999)).toBe("0s");
  expect(humanDuration(119_999)).toBe("119s");
});

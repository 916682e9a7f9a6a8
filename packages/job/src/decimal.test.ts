import { expect, test } from "vitest";

import { parseDecimal } from "./decimal.js";

test.each([
  ["0", 0],
  ["-0", 0],
  ["+0", 0],
  ["7", 7],
  ["+7", 7],
  ["-7", -7],
  ["007", 7],
  ["9223372036854775807", 2 ** 63],
  ["-9223372036854775808", -(2 ** 63)],
])("%j is %d", (text, number) => {
  expect(parseDecimal(text)).toBe(number);
});

test.each([
  "",
  " ",
  "+",
  "-",
  "--1",
  "+-1",
  " 1",
  "1 ",
  "1\n",
  "0x1",
  "1_000",
  "1e3",
  "1.0",
  "Infinity",
  "NaN",
  "٣",
  "9223372036854775808",
  "-9223372036854775809",
  "1".repeat(1000),
])("%j is no number", (text) => {
  expect(parseDecimal(text)).toBeUndefined();
});

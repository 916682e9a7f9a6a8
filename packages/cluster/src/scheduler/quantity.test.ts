import { expect, test } from "vitest";

import { scaledQuantity } from "./quantity.js";

test.each([
  ["0", 0, 0],
  ["1", 0, 1],
  ["+5", 0, 5],
  ["-5", 0, -5],
  ["1.5", 0, 2],
  [".5", 0, 1],
  ["5.", 0, 5],
  ["1", -3, 1000],
  ["100m", -3, 100],
  ["0.1", -3, 100],
  ["1.0005", -3, 1001],
  ["1n", -3, 1],
  ["250u", -3, 1],
  ["-1500u", -3, -1],
  ["1Ki", 0, 1024],
  ["1.5Gi", 0, 1_610_612_736],
  ["2Mi", 0, 2_097_152],
  ["1Ei", 0, 2 ** 60],
  ["1k", 0, 1000],
  ["3G", 0, 3_000_000_000],
  ["1E", 0, 1e18],
  ["1e3", 0, 1000],
  ["1E3", 0, 1000],
  ["12e-1", 0, 2],
  ["128974848", 0, 128_974_848],
])("%s in units of 10^%d is %d", (text, exponent, expected) => {
  expect(scaledQuantity(text, exponent)).toBe(expected);
});

test.each(["", ".", "1 ", "1K", "1KI", "m", "1mm", "0x10", "1e", "--1", "1,5", "Gi"])("%j is refused", (text) => {
  expect(() => scaledQuantity(text, 0)).toThrow(`${JSON.stringify(text)} is not a quantity`);
});

import { expect, test } from "vitest";

import { cpuMs } from "../../apiserver/test/cpu-time.js";
import { canonicalQuantity, scaledQuantity } from "./quantity.js";

test.each([
  ["0.1", "100m"],
  ["1024Mi", "1Gi"],
  ["1.5Gi", "1536Mi"],
  ["2000m", "2"],
  ["1e9", "1e9"],
  ["1000", "1k"],
  ["128974848", "128974848"],
  ["0", "0"],
  ["500Mi", "500Mi"],
  ["-1500m", "-1500m"],
  ["0001", "1"],
  ["9223372036854775807", "9223372036854775807"],
  ["9223372036854775808", "9223372036854775807"],
  ["-1e900", "-9223372036854775807"],
  ["0.00000000001", "1n"],
])("%s is written %s", (text, canonical) => {
  expect(canonicalQuantity(text)).toBe(canonical);
});

test.each(["", "lots", "1 Gi", "1.2.3", "Gi", "1ki"])("%j is no quantity", (text) => {
  expect(canonicalQuantity(text)).toBeUndefined();
});

test.each([
  ["digits", "9", "", "9223372036854775807"],
  ["digits with a suffix", "1", "Ki", "9223372036854775807"],
  ["digits behind the point", "0.0", "", "0"],
  ["digits behind the point that come to something", "0.", "1", "1n"],
  ["digits that are none", "0", "1", "1"],
])("a quantity of very many %s is read at once", (_what, start, end, canonical) => {
  const startedMs = cpuMs();
  expect(canonicalQuantity(`${start}${(start.at(-1) === "." ? "0" : start.at(-1)!).repeat(3_000_000)}${end}`)).toBe(
    canonical,
  );
  // Arithmetic on all digits takes minutes.
  expect(cpuMs() - startedMs).toBeLessThan(2000);
});

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

test.each(["", ".", "1 ", "1K", "1KI", "m", "1mm", "0x10", "1e", "--1", "1,5", "Gi"])("%j has no multiples", (text) => {
  expect(scaledQuantity(text, 0)).toBeUndefined();
});

import { expect, test } from "vitest";

import { compareResourceVersions } from "./resource-version.js";

test.each([
  ["99", "205", -1],
  ["1000", "205", 1],
  ["205", "205", 0],
  ["18446744073709551616", "18446744073709551615", 1],
])("%s against %s", (a, b, sign) => {
  expect(Math.sign(compareResourceVersions(a, b)!)).toBe(sign);
});

test.each(["", "0", "012", "-1", "1.5", "abc"])("%j is not well formed", (version) => {
  expect(compareResourceVersions(version, "1")).toBeUndefined();
  expect(compareResourceVersions("1", version)).toBeUndefined();
});

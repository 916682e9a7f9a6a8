import { expect, test } from "vitest";

import { canonicalQuantity } from "./quantity.js";

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
])("%s is written %s", (text, canonical) => {
  expect(canonicalQuantity(text)).toBe(canonical);
});

test.each(["", "lots", "1 Gi", "1.2.3", "Gi", "1ki"])("%j is no quantity", (text) => {
  expect(canonicalQuantity(text)).toBeUndefined();
});

import { expect, test } from "vitest";

import { suggestTimeZone } from "./index.js";

test.each([
  ["europe/berlin", "Europe/Berlin"],
  ["America/New York", "America/New_York"],
  ["Berlin", "Europe/Berlin"],
  ["new-york", "America/New_York"],
  ["Europe/Berln", "Europe/Berlin"],
  ["Asia/Calcuta", "Asia/Calcutta"],
  ["utc", "UTC"],
])("%s is taken for %s", (name, zone) => {
  expect(suggestTimeZone(name)).toBe(zone);
});

test.each(["", "Mars/Olympus", "somewhere", "x".repeat(1000)])("nothing comes close to %j", (name) => {
  expect(suggestTimeZone(name)).toBeUndefined();
});

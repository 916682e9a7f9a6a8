import { expect, test } from "vitest";

import { ago, relative } from "./moments.js";

const ms = (time: string): number => Date.parse(`2026-03-02T${time}Z`);

test("times are printed relative to now, to the second", () => {
  expect(relative(ms("10:00:00"), ms("10:00:00"))).toBe("now");
  expect(relative(ms("12:30:00"), ms("10:00:00"))).toBe("in 2h30m");
  expect(relative(ms("09:59:15"), ms("10:00:00"))).toBe("45s ago");
});

test("an event slightly after now, by another clock, counts as now", () => {
  expect(ago(ms("10:00:02"), ms("10:00:00"))).toBe("now");
  expect(ago(ms("09:59:58"), ms("10:00:00"))).toBe("2s ago");
  expect(ago(ms("10:30:00"), ms("10:00:00"))).toBe("in 30m");
});

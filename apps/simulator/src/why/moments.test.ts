import { expect, test } from "vitest";

import { clusterNowMs, newestMs, relative } from "./moments.js";

const ms = (time: string): number => Date.parse(`2026-03-02T${time}Z`);

test("the newest of objects and events is found by creation and by when an event was seen last", () => {
  const job = { metadata: { name: "j", creationTimestamp: "2026-03-02T10:00:00Z" } };
  const event = {
    metadata: { name: "e", creationTimestamp: "2026-03-02T09:00:00Z" },
    involvedObject: {},
    lastTimestamp: "2026-03-02T11:00:00Z",
  };
  expect(newestMs([job])).toBe(ms("10:00:00"));
  expect(newestMs([job, event])).toBe(ms("11:00:00"));
  expect(newestMs([])).toBe(Number.NEGATIVE_INFINITY);
});

test("the server's clock counts, unless the cluster is well ahead of it", () => {
  expect(clusterNowMs(ms("10:00:00"), ms("09:00:00"))).toBe(ms("10:00:00"));
  expect(clusterNowMs(ms("10:00:00"), ms("10:00:30"))).toBe(ms("10:00:00"));
  expect(clusterNowMs(ms("10:00:00"), ms("12:00:00"))).toBe(ms("12:00:00"));
});

test("times are told relative to now, to the second", () => {
  expect(relative(ms("10:00:00"), ms("10:00:00"))).toBe("now");
  expect(relative(ms("12:30:00"), ms("10:00:00"))).toBe("in 2h30m");
  expect(relative(ms("09:59:15"), ms("10:00:00"))).toBe("45s ago");
});

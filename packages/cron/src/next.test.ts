import { expect, test } from "vitest";

import { TimeZoneCache, parseSchedule } from "./index.js";

/** Returns the next `count` runs, in UTC with seconds. "never" ends the list. */
function runs(text: string, timeZone: string, after: string, count: number): string[] {
  const schedule = parseSchedule(text, { timeZone });
  const found: string[] = [];
  let time = Date.parse(after);
  for (let index = 0; index < count; index++) {
    const next = schedule.next(time);
    if (next === undefined) return [...found, "never"];
    found.push(new Date(next).toISOString().replace(":00.000Z", "Z").replace(".000Z", "Z"));
    time = next;
  }
  return found;
}

test.each([
  [
    "0 0 31 * *",
    "2024-01-31T00:00Z",
    ["2024-03-31T00:00Z", "2024-05-31T00:00Z", "2024-07-31T00:00Z", "2024-08-31T00:00Z"],
  ],
  [
    "0 */5 * * *",
    "2024-01-01T00:00Z",
    [
      "2024-01-01T05:00Z",
      "2024-01-01T10:00Z",
      "2024-01-01T15:00Z",
      "2024-01-01T20:00Z",
      "2024-01-02T00:00Z",
      "2024-01-02T05:00Z",
    ],
  ],
  [
    "5/15 * * * *",
    "2024-01-01T00:00Z",
    ["2024-01-01T00:05Z", "2024-01-01T00:20Z", "2024-01-01T00:35Z", "2024-01-01T00:50Z", "2024-01-01T01:05Z"],
  ],
  ["* * * * *", "2024-01-01T10:00:59.999Z", ["2024-01-01T10:01Z"]],
  ["* * * * *", "2024-01-01T10:01:00.000Z", ["2024-01-01T10:02Z"]],
  ["* * * * *", "1969-12-31T23:59:59.001Z", ["1970-01-01T00:00Z"]],
  ["0 0 29 2 *", "2024-03-01T00:00Z", ["2028-02-29T00:00Z"]],
  ["0 0 29 2 *", "2096-03-01T00:00Z", ["never"]],
  ["0 0 29 2 *", "2098-12-31T23:59:58Z", ["never"]],
  ["0 0 29 2 *", "2099-01-01T00:00Z", ["2104-02-29T00:00Z"]],
  ["0 0 1 1 *", "0000-02-29T00:00Z", ["0001-01-01T00:00Z", "0002-01-01T00:00Z"]],
  ["@every 90s", "2024-01-01T00:00:59.900Z", ["2024-01-01T00:02:29Z", "2024-01-01T00:03:59Z"]],
])("%j after %s in UTC", (text, after, expected) => {
  expect(runs(text, "UTC", after, expected.length)).toEqual(expected);
});

test.each([
  ["30 2 * * *", "America/New_York", "2024-03-09T12:00Z", ["2024-03-11T06:30Z"]],
  ["0 * * * *", "America/New_York", "2024-03-10T05:30Z", ["2024-03-10T06:00Z", "2024-03-10T07:00Z"]],
  ["*/30 * * * *", "America/New_York", "2024-03-10T06:10Z", ["2024-03-10T06:30Z", "2024-03-10T07:00Z"]],
  [
    "30 1 * * *",
    "America/New_York",
    "2024-11-03T04:00Z",
    ["2024-11-03T05:30Z", "2024-11-03T06:30Z", "2024-11-04T06:30Z"],
  ],
  ["0 2 * * *", "America/New_York", "2024-11-03T04:00Z", ["2024-11-03T07:00Z", "2024-11-04T07:00Z"]],
  ["30 2 * * *", "Europe/Berlin", "2024-10-26T22:00Z", ["2024-10-27T00:30Z", "2024-10-27T01:30Z", "2024-10-28T01:30Z"]],
  ["*/15 * * * *", "Australia/Lord_Howe", "2024-10-05T15:10Z", ["2024-10-05T15:15Z", "2024-10-05T15:30Z"]],
  ["0 * * * *", "Australia/Lord_Howe", "2024-04-06T13:30Z", ["2024-04-06T14:00Z", "2024-04-06T15:30Z"]],
  ["0 0 * * *", "America/Sao_Paulo", "2018-11-02T12:00Z", ["2018-11-03T03:00Z", "2018-11-05T02:00Z"]],
  ["30 5 * * 6", "America/Sao_Paulo", "2018-11-03T09:00Z", ["2018-11-04T07:30Z"]],
  ["30 5 3 * *", "America/Sao_Paulo", "2018-11-03T09:00Z", ["2018-11-04T07:30Z"]],
  ["30 5 4 11 *", "America/Sao_Paulo", "2018-10-10T00:00Z", ["2018-11-04T07:30Z"]],
  ["30 5 31 3 *", "Asia/Beirut", "2024-01-01T00:00Z", ["2025-03-31T02:30Z"]],
  ["30 5 * * 0", "Asia/Beirut", "2024-03-29T00:00Z", ["2024-04-07T02:30Z"]],
  ["0 0 * * 5", "Africa/Cairo", "2024-04-23T00:00Z", ["2024-05-02T21:00Z"]],
  ["0 0 * * 0", "America/Havana", "2024-03-08T12:00Z", ["2024-03-17T04:00Z"]],
])("%j in %s after %s around a change of the clock", (text, timeZone, after, expected) => {
  expect(runs(text, timeZone, after, expected.length)).toEqual(expected);
});

// Upstream never returns from these.
test.each([
  ["0 0 1 * *", "Pacific/Apia", "2011-12-28T12:00Z", ["2011-12-31T10:00Z"]],
  ["0 12 * * 5", "Pacific/Apia", "2011-12-28T12:00Z", ["2012-01-05T22:00Z"]],
  ["0 12 30 12 *", "Pacific/Apia", "2011-12-28T12:00Z", ["2012-12-29T22:00Z"]],
  ["0 0 31 12 *", "Pacific/Apia", "2011-12-28T12:00Z", ["2011-12-30T10:00Z"]],
  ["0 0 22 8 *", "Pacific/Kwajalein", "1993-08-19T00:00Z", ["1993-08-21T12:00Z"]],
  ["0 0 31 12 *", "Pacific/Kiritimati", "1994-12-28T00:00Z", ["1995-12-30T10:00Z"]],
])("%j in %s after %s gets past a day that the zone does not have", (text, timeZone, after, expected) => {
  expect(runs(text, timeZone, after, expected.length)).toEqual(expected);
});

test("a clock set back does not send the search back in time", () => {
  // The clock goes back from 02:00 to 00:00 in Iqaluit, so hours 0 and 1 occur twice.
  const zones = new TimeZoneCache();
  const overlap = Date.parse("1999-10-31T06:00:00Z");
  for (const text of ["0 0 * * *", "0 1 * * *", "30 0,2 * * *", "15 1 31 10 *"]) {
    const schedule = parseSchedule(text, { timeZone: "America/Iqaluit", zones });
    for (let time = overlap - 7_200_000; time < overlap + 7_200_000; time += 60_000)
      expect(schedule.next(time)).toBeGreaterThan(time);
  }
  // Hour 3 occurs again from 02:45 on. Upstream returns the first occurrence, more than an hour earlier.
  const chatham = parseSchedule("0 3 * * *", { timeZone: "Pacific/Chatham", zones });
  expect(chatham.next(Date.parse("2024-04-06T14:05:00Z"))).toBe(Date.parse("2024-04-06T14:15:00Z"));
});

test("a time that no Date can hold has no next run", () => {
  for (const text of ["* * * * *", "@every 1h", "TZ=Europe/Berlin 0 0 * * *"]) {
    const schedule = parseSchedule(text);
    for (const after of [Number.NaN, Infinity, -Infinity, 8.64e15, 1e300, -1e300])
      expect(schedule.next(after)).toBeUndefined();
    expect(schedule.next(8.64e15 - 86_400_000 * 2)).toBeDefined();
    expect(schedule.next(-8.64e15)).toBeDefined();
  }
});

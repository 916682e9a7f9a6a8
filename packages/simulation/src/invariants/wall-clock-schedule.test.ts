import { parseSchedule } from "@kubewright/cron";
import { describe, expect, it } from "vitest";

import { WallClock, WallClockSchedule } from "./wall-clock-schedule.js";

const HOUR_MS = 3_600_000;

function slots(text: string, zone: string, from: string, count: number): (string | undefined)[] {
  const schedule = WallClockSchedule.of(text, new WallClock(zone))!;
  const found: (string | undefined)[] = [];
  let atMs: number | undefined = Date.parse(from);
  while (atMs !== undefined && found.length < count) {
    atMs = schedule.next(atMs);
    found.push(atMs === undefined ? undefined : new Date(atMs).toISOString().slice(5, 16));
  }
  return found;
}

describe("what is due by the clock on the wall", () => {
  it.each([
    ["30 2 * * *", "America/New_York", "2024-03-09T12:00:00Z", ["03-11T06:30", "03-12T06:30"]],
    ["0 * * * *", "America/New_York", "2024-03-10T05:30:00Z", ["03-10T06:00", "03-10T07:00"]],
    ["30 1 * * *", "America/New_York", "2024-11-03T00:00:00Z", ["11-03T05:30", "11-03T06:30", "11-04T06:30"]],
    ["0 2 * * *", "America/New_York", "2024-11-03T00:00:00Z", ["11-03T07:00", "11-04T07:00"]],
    ["30 2 * * *", "Europe/Berlin", "2024-10-26T12:00:00Z", ["10-27T00:30", "10-27T01:30", "10-28T01:30"]],
    ["15 9 1,3 * 5", "Asia/Kolkata", "2026-01-01T00:00:00Z", ["01-01T03:45", "01-02T03:45", "01-03T03:45"]],
    ["15 9 */1 * 5", "Asia/Kolkata", "2026-01-01T00:00:00Z", ["01-02T03:45", "01-09T03:45"]],
  ])("%s in %s after %s", (text, zone, from, expected) => {
    expect(slots(text, zone, from, expected.length)).toEqual(expected);
  });

  it.each([
    ["30 5 * * 6", "America/Sao_Paulo", "2018-11-03T09:00:00Z"],
    ["0 * * * *", "Australia/Lord_Howe", "2024-04-06T14:30:00Z"],
    ["0 0 * * 5", "Africa/Cairo", "2024-04-23T00:00:00Z"],
    ["0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z"],
  ])("nothing is said of %s in %s after %s", (text, zone, from) => {
    expect(slots(text, zone, from, 1)).toEqual([undefined]);
  });

  it.each(["@hourly", "@every 5m", "0 0 * JAN *", "0 0 * *", "0 0 * * 7", "TZ=UTC 0 0 * * *", "5-1 * * * *"])(
    "%s is not read",
    (text) => expect(WallClockSchedule.of(text, new WallClock("UTC"))).toBeUndefined(),
  );

  it("is what @kubewright/cron finds, all year round, where it is sure", () => {
    const sure: (readonly [string, number, number, number | undefined])[] = [];
    for (const zone of ["Europe/Berlin", "America/New_York", "Australia/Sydney", "Pacific/Auckland", "Asia/Kolkata"]) {
      const clock = new WallClock(zone);
      for (const text of [
        "30 2 * * *",
        "*/20 1-3 * * *",
        "0 5 1,15,29 * 0",
        "15 */3 * * 1-5",
        "0 0 1 * *",
        "0 3 * * 0",
      ]) {
        const slow = WallClockSchedule.of(text, clock)!;
        const fast = parseSchedule(text, { timeZone: zone });
        for (let atMs = Date.UTC(2026, 1, 26); atMs < Date.UTC(2026, 10, 3); atMs += 19 * HOUR_MS - 60_000) {
          const slotMs = slow.next(atMs);
          if (slotMs !== undefined) sure.push([`${text} in ${zone}`, atMs, slotMs, fast.next(atMs)]);
        }
      }
    }
    expect(sure.filter(([, , slotMs, found]) => slotMs !== found)).toEqual([]);
    expect(sure.length).toBeGreaterThan(8_000);
  });
});

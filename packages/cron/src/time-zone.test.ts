import { expect, onTestFinished, test, vi } from "vitest";

import { TimeZoneCache, isTimeZone, parseSchedule, timeZoneError } from "./index.js";

test("a time zone is known by its exact name, old names included", () => {
  const names = ["UTC", "US/Pacific", "Zulu", "EST5EDT", "Etc/GMT+5", "Asia/Calcutta", "Asia/Kolkata", "GMT-0", "W-SU"];
  for (const name of [...names, "America/Argentina/ComodRivadavia", "America/Port-au-Prince", "NZ-CHAT"])
    expect([name, isTimeZone(name)]).toEqual([name, true]);
  for (const name of Intl.supportedValuesOf("timeZone")) expect([name, isTimeZone(name)]).toEqual([name, true]);
});

test("a schedule in UTC asks the runtime for no time zone, one in another zone as it is first asked itself", () => {
  const asked = vi.spyOn(Intl, "DateTimeFormat");
  onTestFinished(() => asked.mockRestore());
  expect(parseSchedule("0 12 * * *").next(0)).toBe(12 * 3_600_000);
  expect(asked).not.toHaveBeenCalled();
  const schedule = parseSchedule("0 12 * * *", { timeZone: "Europe/Rome" });
  // One call checks that the zone exists.
  expect(asked).toHaveBeenCalledTimes(1);
  expect(schedule.next(0)).toBe(11 * 3_600_000);
  expect(asked).toHaveBeenCalledTimes(2);
});

test("other letter case, offsets and names only the runtime knows are not time zones", () => {
  const names = ["utc", "america/new_york", "America/new_york", "GMT+5", "+05:00", "ACT", "IST", "", "Local", " UTC"];
  for (const name of [...names, "UTC ", "America", "America/", "__proto__"])
    expect([name, isTimeZone(name)]).toEqual([name, false]);
});

test("timeZoneError gives Go's words, and none for what Go can load", () => {
  expect(timeZoneError("Europe/Rome")).toBeUndefined();
  expect(timeZoneError("")).toBeUndefined();
  expect(timeZoneError("Local")).toBeUndefined();
  expect(timeZoneError("local")).toBe("unknown time zone local");
  expect(timeZoneError("bad timezone")).toBe("unknown time zone bad timezone");
  for (const name of ["a/../b", "a..b", "/UTC", "\\UTC"])
    expect([name, timeZoneError(name)]).toEqual([name, "time: invalid location name"]);
});

test.each([
  ["posix/Europe/Rome", "Europe/Rome"],
  ["right/Europe/Rome", "Europe/Rome"],
  ["Europe//Rome", "Europe/Rome"],
  ["./Europe/./Rome", "Europe/Rome"],
  ["posix//UTC", "UTC"],
  ["Factory", "UTC"],
  ["posixrules", "America/New_York"],
])("%s is found in the zone database, and is %s", (name, zone) => {
  expect(timeZoneError(name)).toBeUndefined();
  expect(new TimeZoneCache().get(name)?.name).toBe(zone);
  expect(parseSchedule(`TZ=${name} 0 12 * * *`).next(0)).toBe(parseSchedule(`TZ=${zone} 0 12 * * *`).next(0));
});

test.each([
  ["Europe", "is a directory"],
  ["America/Argentina/", "is a directory"],
  ["posix", "is a directory"],
  ["right/", "is a directory"],
  [".", "is a directory"],
  ["Europe/Rome/", "not a directory"],
  ["Europe/Rome/Center", "not a directory"],
  ["UTC/.", "not a directory"],
  ["zone.tab/x", "not a directory"],
  ["zone.tab", "malformed time zone information"],
  ["leapseconds", "malformed time zone information"],
  [`Europe/${"x".repeat(256)}`, "file name too long"],
  [`Europe/${"é".repeat(128)}`, "file name too long"],
  [`Mars/${"x".repeat(256)}`, `unknown time zone Mars/${"x".repeat(256)}`],
  ["posix/right/UTC", "unknown time zone posix/right/UTC"],
  ["posix/zone.tab", "unknown time zone posix/zone.tab"],
  ["posix/posixrules", "unknown time zone posix/posixrules"],
  ["Europe/Roma", "unknown time zone Europe/Roma"],
])("%s is no zone: %s", (name, error) => {
  expect(timeZoneError(name)).toBe(error);
  expect(new TimeZoneCache().get(name)).toBeUndefined();
  expect(() => parseSchedule(`CRON_TZ=${name} 0 12 * * *`)).toThrow(`provided bad location ${name}: ${error}`);
});

test("a cache loads each zone once, and only by its exact name", () => {
  const zones = new TimeZoneCache();
  expect(zones.get("Europe/Rome")).toBe(zones.get("Europe/Rome"));
  expect(zones.get("")).toBe(zones.get("UTC"));
  expect(zones.get("posix/Europe//Rome")).toBe(zones.get("Europe/Rome"));
  expect(zones.get("europe/rome")).toBeUndefined();
  expect(zones.get("Local")).toBeUndefined();
  expect(new TimeZoneCache().get("Europe/Rome")).not.toBe(zones.get("Europe/Rome"));
});

test("the table of a zone is what the runtime says, in any order of asking", () => {
  const zones = new TimeZoneCache();
  const names = ["America/New_York", "Africa/Casablanca", "Australia/Lord_Howe", "America/Boa_Vista", "Pacific/Apia"];
  for (const name of [...names, "Asia/Gaza", "America/Caracas", "Etc/GMT+5"]) {
    const zone = zones.get(name)!;
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    const wrong: number[] = [];
    // The factor is coprime to the count, so the steps visit 1900 to 2089 in large leaps.
    for (let index = 0; index < 5_000; index++) {
      const instant = -2_208_988_800 + ((index * 1_234_577) % 5_000) * 1_199_999;
      const part = Object.fromEntries(
        format.formatToParts(instant * 1000).map(({ type, value }) => [type, Number(value)]),
      );
      const wall = Date.UTC(
        part["year"]!,
        part["month"]! - 1,
        part["day"],
        part["hour"],
        part["minute"],
        part["second"],
      );
      if (zone.wallAt(instant) !== wall / 1000) wrong.push(instant);
    }
    expect([name, wrong]).toEqual([name, []]);
  }
});

test("changes that last less than a week are seen", () => {
  const transitions = new TimeZoneCache()
    .get("America/Boa_Vista")!
    .transitions(Date.parse("2000-09-01T00:00:00Z") / 1000, Date.parse("2001-01-01T00:00:00Z") / 1000);
  expect(transitions).toEqual([
    { at: Date.parse("2000-10-08T04:00:00Z") / 1000, offsetBefore: -14_400, offsetAfter: -10_800 },
    { at: Date.parse("2000-10-15T03:00:00Z") / 1000, offsetBefore: -10_800, offsetAfter: -14_400 },
  ]);
});

test("schedules that share a cache do not disturb each other", () => {
  const zones = new TimeZoneCache();
  const shared = ["0 2 * * *", "0 12 * * *"].map((text) => parseSchedule(text, { timeZone: "Europe/Berlin", zones }));
  const alone = ["0 2 * * *", "0 12 * * *"].map((text) => parseSchedule(text, { timeZone: "Europe/Berlin" }));
  for (let index = 0; index < 2_000; index++) {
    const after = Date.UTC(2020 + ((index * 7) % 30), 0, 1) + index * 86_400_000;
    const which = index % 2;
    expect(shared[which]!.next(after)).toBe(alone[which]!.next(after));
  }
});

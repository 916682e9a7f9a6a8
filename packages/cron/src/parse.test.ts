import { expect, test } from "vitest";

import { ScheduleError, parseSchedule } from "./index.js";

/** Returns the error message, or the first runs after 2024-09-01T00:00:00Z (a Sunday), truncated to minutes. */
function outcome(text: string, runs = 3): string | string[] {
  try {
    const schedule = parseSchedule(text);
    const found: string[] = [];
    let time: number | undefined = Date.parse("2024-09-01T00:00:00Z");
    while (found.length < runs && (time = schedule.next(time)) !== undefined)
      found.push(new Date(time).toISOString().slice(0, 16));
    return found;
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    return error.message;
  }
}

const notAnInteger = (text: string, problem = "invalid syntax") =>
  `failed to parse int from ${text}: strconv.Atoi: parsing "${text}": ${problem}`;

test.each([
  ["", "empty spec string"],
  ["   ", "expected exactly 5 fields, found 0: []"],
  ["a b c d", "expected exactly 5 fields, found 4: [a b c d]"],
  ["* * * *", "expected exactly 5 fields, found 4: [* * * *]"],
  ["* * * * * *", "expected exactly 5 fields, found 6: [* * * * * *]"],
  ["*\u2003*\t*\u0085*", "expected exactly 5 fields, found 4: [* * * *]"],
  ["* * * *\ufeff*", "expected exactly 5 fields, found 4: [* * * *\ufeff*]"],
])("the number of fields must be five: %j", (text, message) => {
  expect(outcome(text)).toBe(message);
});

test.each([
  ["-5", notAnInteger("")],
  ["5-", notAnInteger("")],
  ["/5", notAnInteger("")],
  ["*/", notAnInteger("")],
  ["x-1-2", notAnInteger("x")],
  ["1-x", notAnInteger("x")],
  ["1-x-3", "too many hyphens: 1-x-3"],
  ["1-2-3/x", "too many hyphens: 1-2-3/x"],
  ["1/x", notAnInteger("x")],
  ["1/-5", "negative number (-5) not allowed: -5"],
  ["1/-0", "step of range should be a positive number: 1/-0"],
  ["1/2/3", "too many slashes: 1/2/3"],
  ["1/x/3", "too many slashes: 1/x/3"],
  ["60", "end of range (60) above maximum (59): 60"],
  ["1-60", "end of range (60) above maximum (59): 1-60"],
  ["70/0", "beginning of range (70) beyond end of range (59): 70/0"],
  ["6-0", "beginning of range (6) beyond end of range (0): 6-0"],
  ["1,*/0", "step of range should be a positive number: */0"],
  ["0x5", notAnInteger("0x5")],
  ["1_0", notAnInteger("1_0")],
  ["+", notAnInteger("+")],
  ["mon", notAnInteger("mon")],
  ["99999999999999999999", notAnInteger("99999999999999999999", "value out of range")],
  ["99999999999999999999x", notAnInteger("99999999999999999999x", "value out of range")],
  ["9223372036854775808", notAnInteger("9223372036854775808", "value out of range")],
  ["9223372036854775807", "end of range (9223372036854775807) above maximum (59): 9223372036854775807"],
  ['"\\', 'failed to parse int from "\\: strconv.Atoi: parsing "\\"\\\\": invalid syntax'],
  [
    "\u0007é\u200b\u{1f600}\u{e0001}",
    'failed to parse int from \u0007é\u200b\u{1f600}\u{e0001}: strconv.Atoi: parsing "\\aé\\u200b\u{1f600}\\U000e0001": invalid syntax',
  ],
])("a minute of %j is refused with upstream's words", (minute, message) => {
  expect(outcome(`${minute} * * * *`)).toBe(message);
});

test.each([
  ["0 0 0 * *", "beginning of range (0) below minimum (1): 0"],
  ["0 0 * 13 *", "end of range (13) above maximum (12): 13"],
  ["0 0 * * 7", "end of range (7) above maximum (6): 7"],
  ["0 0 * * sat-sun", "beginning of range (6) beyond end of range (0): sat-sun"],
  ["0 0 * * sunday", notAnInteger("sunday")],
  ["0 0 * */feb *", notAnInteger("feb")],
  ["0 0 L * *", notAnInteger("L")],
  ["a 24 0 * *", notAnInteger("a")],
])("%j is refused, the leftmost mistake first", (text, message) => {
  expect(outcome(text)).toBe(message);
});

test.each([
  ["? ? ? ? ?", ["2024-09-01T00:01", "2024-09-01T00:02", "2024-09-01T00:03"]],
  ["1,,2, * * * *", ["2024-09-01T00:01", "2024-09-01T00:02", "2024-09-01T01:01"]],
  ["+5 * * * *", ["2024-09-01T00:05", "2024-09-01T01:05", "2024-09-01T02:05"]],
  ["007 * * * *", ["2024-09-01T00:07", "2024-09-01T01:07", "2024-09-01T02:07"]],
  ["*-foo * * * *", ["2024-09-01T00:01", "2024-09-01T00:02", "2024-09-01T00:03"]],
  ["*-x-y/20 * * * *", ["2024-09-01T00:20", "2024-09-01T00:40", "2024-09-01T01:00"]],
  ["*/100 * * * *", ["2024-09-01T01:00", "2024-09-01T02:00", "2024-09-01T03:00"]],
  ["*/9223372036854775807 * * * *", ["2024-09-01T01:00", "2024-09-01T02:00", "2024-09-01T03:00"]],
  ["*/45 * * * *", ["2024-09-01T00:45", "2024-09-01T01:00", "2024-09-01T01:45"]],
  ["58/1 * * * *", ["2024-09-01T00:58", "2024-09-01T00:59", "2024-09-01T01:58"]],
  ["0 0 * JAN Mon", ["2025-01-06T00:00", "2025-01-13T00:00", "2025-01-20T00:00"]],
  ["0 0 * * tue-thu/2", ["2024-09-03T00:00", "2024-09-05T00:00", "2024-09-10T00:00"]],
  [" 0 0 * * 1 \n", ["2024-09-02T00:00", "2024-09-09T00:00", "2024-09-16T00:00"]],
  [", * * * *", []],
  ["* , * * *", []],
  ["* * , * *", []],
  ["* * * , *", []],
  ["* * * * ,", []],
  ["0 0 , * 1", ["2024-09-02T00:00", "2024-09-09T00:00", "2024-09-16T00:00"]],
  ["0 0 31 2 *", []],
])("%j is accepted", (text, runs) => {
  expect(outcome(text)).toEqual(runs);
});

test.each([
  ["0 0 13 * 5", ["06", "13", "20", "27"]],
  ["0 0 */2 * 1", ["02", "03", "05", "07"]],
  ["0 0 */1 * 1", ["02", "09", "16", "23"]],
  ["0 0 1-31 * 1", ["02", "03", "04", "05"]],
  ["0 0 13 * */2", ["03", "05", "07", "08"]],
])("%j combines the two day fields by their stars", (text, days) => {
  expect(outcome(text, 4)).toEqual(days.map((day) => `2024-09-${day}T00:00`));
});

test.each([
  ["@yearly", "2025-01-01T00:00"],
  ["@annually", "2025-01-01T00:00"],
  ["@monthly", "2024-10-01T00:00"],
  ["@weekly", "2024-09-08T00:00"],
  ["@daily", "2024-09-02T00:00"],
  ["@midnight", "2024-09-02T00:00"],
  ["@hourly", "2024-09-01T01:00"],
  ["TZ=UTC @daily ", "2024-09-02T00:00"],
  ["CRON_TZ=Asia/Tokyo   @daily", "2024-09-01T15:00"],
])("%j is a descriptor", (text, run) => {
  expect(outcome(text, 1)).toEqual([run]);
});

test.each([
  ["@Daily", "unrecognized descriptor: @Daily"],
  ["@daily ", "unrecognized descriptor: @daily "],
  [" @daily", "expected exactly 5 fields, found 1: [@daily]"],
  ["@reboot", "unrecognized descriptor: @reboot"],
  ["@every", "unrecognized descriptor: @every"],
  ["@every ", 'failed to parse duration @every : time: invalid duration ""'],
  ["@every  1h", 'failed to parse duration @every  1h: time: invalid duration " 1h"'],
  ["@every 1d", 'failed to parse duration @every 1d: time: unknown unit "d" in duration "1d"'],
  ["@every 5", 'failed to parse duration @every 5: time: missing unit in duration "5"'],
  ["@every -", 'failed to parse duration @every -: time: invalid duration "-"'],
  ["@every .h", 'failed to parse duration @every .h: time: invalid duration ".h"'],
  ["@every 1h-1m", 'failed to parse duration @every 1h-1m: time: unknown unit "h-" in duration "1h-1m"'],
  ["@every 2562048h", 'failed to parse duration @every 2562048h: time: invalid duration "2562048h"'],
  [
    "@every 9223372036854775808ns",
    'failed to parse duration @every 9223372036854775808ns: time: invalid duration "9223372036854775808ns"',
  ],
  [
    '@every 1"é',
    'failed to parse duration @every 1"é: time: unknown unit "\\"\\xc3\\xa9" in duration "1\\"\\xc3\\xa9"',
  ],
])("%j is refused as a descriptor", (text, message) => {
  expect(outcome(text)).toBe(message);
});

test.each([
  ["-1h", 1],
  ["0", 1],
  ["-0", 1],
  ["500ms", 1],
  ["1500ms", 1],
  ["90m30.7s", 5430],
  [".5h", 1800],
  ["1.h", 3600],
  ["+5m", 300],
  ["1h2m3s4ms5us6ns", 3723],
  ["3000000µs", 3],
  ["3000000μs", 3],
  ["0.00000000000000000000000000000000001h", 1],
  ["-9223372036854775808ns", 1],
  ["9223372036854775807ns", 9_223_372_036],
])("@every %s is %i seconds", (duration, seconds) => {
  const start = Date.parse("2024-09-01T00:00:00Z");
  expect(parseSchedule(`@every ${duration}`).next(start)).toBe(start + seconds * 1000);
});

test.each([
  ["TZ=UTC", "invalid schedule format: runtime error: slice bounds out of range [:-1]"],
  ["CRON_TZ=UTC\t0 * * * *", "provided bad location UTC\t0: unknown time zone UTC\t0"],
  ["TZ=utc 0 * * * *", "provided bad location utc: unknown time zone utc"],
  ["TZ=../UTC 0 * * * *", "provided bad location ../UTC: time: invalid location name"],
  ["TZ=/UTC 0 * * * *", "provided bad location /UTC: time: invalid location name"],
  ["tz=UTC 0 * * * *", "expected exactly 5 fields, found 6: [tz=UTC 0 * * * *]"],
  [" TZ=UTC 0 * * * *", "expected exactly 5 fields, found 6: [TZ=UTC 0 * * * *]"],
  ["TZ=UTC ", "expected exactly 5 fields, found 0: []"],
  ["TZ=Nope * *", "provided bad location Nope: unknown time zone Nope"],
])("the zone prefix of %j is refused", (text, message) => {
  expect(outcome(text)).toBe(message);
});

test("the zone is the prefix's, or else the option's, or else UTC", () => {
  const zoneOf = (text: string, options?: Parameters<typeof parseSchedule>[1]) => parseSchedule(text, options).timeZone;
  expect(zoneOf("0 * * * *")).toBe("UTC");
  expect(zoneOf("0 * * * *", { timeZone: "Europe/Rome" })).toBe("Europe/Rome");
  expect(zoneOf("TZ=Asia/Tokyo 0 * * * *", { timeZone: "Europe/Rome" })).toBe("Asia/Tokyo");
  expect(zoneOf("TZ=Asia/Tokyo @every 1h", { timeZone: "nowhere" })).toBe("Asia/Tokyo");
  expect(zoneOf("TZ= 0 * * * *", { timeZone: "Europe/Rome" })).toBe("UTC");
  expect(zoneOf("TZ=Local 0 * * * *")).toBe("UTC");
  expect(zoneOf("TZ=Local 0 * * * *", { localTimeZone: "Europe/Rome" })).toBe("Europe/Rome");
  expect(() => zoneOf("0 * * * *", { timeZone: "europe/rome" })).toThrow("unknown time zone europe/rome");
});

test("what is not a string is a ScheduleError too", () => {
  for (const input of [undefined, null, 5, {}, ["* * * * *"]])
    expect(() => parseSchedule(input as string)).toThrow(ScheduleError);
});

test("an error in one field says which, beside Kubernetes' own words", () => {
  const fieldOf = (text: string): unknown => {
    try {
      return parseSchedule(text);
    } catch (error) {
      return (error as ScheduleError).field;
    }
  };
  expect(["61 * * * *", "0 24 * * *", "0 0 0 * *", "0 0 1 foo *", "0 0 * * 7"].map(fieldOf)).toEqual([
    "minute",
    "hour",
    "day of month",
    "month",
    "day of week",
  ]);
  expect(["* * * *", "@often", "TZ=Mars 0 0 * * *"].map(fieldOf)).toEqual([undefined, undefined, undefined]);
});

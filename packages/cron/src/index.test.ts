import { expect, test } from "vitest";

import * as cron from "./index.js";

test("the package exports what it promises and nothing else", () => {
  expect(Object.keys(cron).sort()).toEqual([
    "ScheduleError",
    "TimeZoneCache",
    "describeSchedule",
    "explainNextRuns",
    "explainSchedule",
    "goQuote",
    "isTimeZone",
    "parseGoDuration",
    "parseGoDurationMs",
    "parseSchedule",
    "suggestTimeZone",
    "timeZoneError",
    "tryParseGoDuration",
  ]);
});

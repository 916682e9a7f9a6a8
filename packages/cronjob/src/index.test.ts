import { expect, test } from "vitest";

import * as api from "./index.js";

test("the package exports these names", () => {
  expect(Object.keys(api).sort()).toEqual([
    "CronJobController",
    "Schedules",
    "effectiveSchedule",
    "hasEmbeddedTimeZone",
    "jobNameFor",
    "mostRecentSlot",
    "nextScheduleDelayMs",
    "planCronJob",
    "predictCronJobSync",
    "slotsBetween",
  ]);
});

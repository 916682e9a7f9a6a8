import { expect, test } from "vitest";

import * as api from "./index.js";

test("the package exports exactly these names", () => {
  expect(Object.keys(api).sort()).toEqual([
    "LogThrottle",
    "ScaledClock",
    "SimulatedClock",
    "StoppableClock",
    "StuckError",
    "TokenBucket",
    "formatDuration",
    "formatKlogLine",
    "parseDuration",
    "realClock",
    "realRandom",
    "seededRandom",
    "silentLogger",
    "standardErrorLogger",
    "untilAborted",
    "uuid",
  ]);
});

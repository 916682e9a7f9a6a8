import { expect, test } from "vitest";

import * as exported from "./index.js";

test("the package exports these values", () => {
  expect(Object.keys(exported).sort()).toEqual([
    "UsageError",
    "createLogger",
    "defaultOptions",
    "parseCommandLine",
    "run",
    "runControllerManager",
    "waitForHealthy",
  ]);
});

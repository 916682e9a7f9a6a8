import { expect, test } from "vitest";

import * as api from "./index.js";

test("the package exports these names", () => {
  expect(Object.keys(api).sort()).toEqual([
    "FakeKubelet",
    "WORKLOAD_ANNOTATION_PREFIX",
    "drawDuration",
    "lengthen",
    "parseDurationRange",
    "parseExitCodes",
    "parseIndexes",
    "restartDelayMs",
    "workloadOf",
  ]);
});

import { expect, test } from "vitest";

import * as job from "./index.js";

test("the package exports exactly these names", () => {
  expect(Object.keys(job).sort()).toEqual([
    "JobController",
    "defaultJobLimits",
    "explainJobReason",
    "jobMetricDefinitions",
    "planJob",
    "predictJobSync",
  ]);
});

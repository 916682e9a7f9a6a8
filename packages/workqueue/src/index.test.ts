import { expect, test } from "vitest";

import * as workqueue from "./index.js";

test("the package exports these values", () => {
  expect(Object.keys(workqueue).sort()).toEqual([
    "BucketRateLimiter",
    "DelayingQueue",
    "ItemExponentialFailureRateLimiter",
    "ItemFastSlowRateLimiter",
    "MaxOfRateLimiter",
    "RateLimitingQueue",
    "WithMaxWaitRateLimiter",
    "WorkQueue",
    "defaultControllerRateLimiter",
    "defaultItemBasedRateLimiter",
    "parallelizeUntil",
    "queueMetricDefinitions",
  ]);
});

import { expect, test } from "vitest";

import * as workqueue from "./index.js";

test("the package exports these values", () => {
  expect(Object.keys(workqueue).sort()).toEqual([
    "BucketRateLimiter",
    "DelayingQueue",
    "ItemExponentialFailureRateLimiter",
    "ItemFastSlowRateLimiter",
    "MaxOfRateLimiter",
    "PriorityQueue",
    "RateLimitingQueue",
    "WithMaxWaitRateLimiter",
    "WorkQueue",
    "defaultControllerRateLimiter",
    "defaultItemBasedRateLimiter",
    "lowPriority",
    "parallelizeUntil",
    "queueMetricDefinitions",
  ]);
});

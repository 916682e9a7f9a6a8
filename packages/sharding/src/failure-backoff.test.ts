import { expect, test } from "vitest";

import { FailureBackoff } from "./failure-backoff.js";

test("each failure doubles the delay, up to the maximum", () => {
  const backoff = new FailureBackoff({ initialMs: 5_000, maxMs: 30_000 });
  const delays: number[] = [];
  for (let nowMs = 0, failures = 0; failures < 5; failures++) {
    backoff.recordFailure(3, nowMs);
    const failedMs = nowMs;
    while (backoff.delayed(nowMs).has(3)) nowMs += 1_000;
    delays.push(nowMs - failedMs);
  }
  expect(delays).toEqual([5_000, 10_000, 20_000, 30_000, 30_000]);
});

test("buckets have separate delays", () => {
  const backoff = new FailureBackoff({ initialMs: 5_000, maxMs: 30_000 });
  backoff.recordFailure(3, 0);
  backoff.recordFailure(4, 2_000);
  expect([backoff.delayed(4_999), backoff.delayed(5_000)]).toEqual([new Set([3, 4]), new Set([4])]);
  expect([backoff.recentlyFailed(29_999), backoff.recentlyFailed(30_000)]).toEqual([new Set([3, 4]), new Set([4])]);
});

test("a bucket that did not fail for the maximum after its delay starts again", () => {
  const backoff = new FailureBackoff({ initialMs: 5_000, maxMs: 30_000 });
  backoff.recordFailure(3, 0);
  backoff.recordFailure(3, 5_000 + 30_000);
  expect(backoff.delayed(39_999)).toEqual(new Set([3]));
  expect(backoff.delayed(40_000)).toEqual(new Set());
});

import { expect, test } from "vitest";

import type { Job } from "@kubewright/api";

import { needsCleanup, timeLeft } from "./time-left.js";

const NOW = Date.parse("2026-01-01T00:01:00Z");

function job(ttl: number | undefined, conditions: NonNullable<Job["status"]>["conditions"], deleted = false): Job {
  return {
    metadata: { name: "j", namespace: "n", ...(deleted ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}) },
    spec: { ...(ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl }), template: {} },
    status: { conditions: conditions ?? [] },
  };
}

function condition(type: string, second: number | undefined, status = "True") {
  if (second === undefined) return { type, status };
  return {
    type,
    status,
    lastTransitionTime: new Date(Date.parse("2026-01-01T00:00:00Z") + second * 1000).toISOString(),
  };
}

test.each([
  ["expires at once with a time of 0", job(0, [condition("Complete", 60)]), 0],
  ["has its whole time when it has just finished", job(10, [condition("Complete", 60)]), 10],
  ["has the rest of its time when it failed a while ago", job(15, [condition("Failed", 50)]), 5],
  ["expired long ago", job(10, [condition("Failed", 10)]), -40],
  ["has more than its time when it finishes in the future", job(10, [condition("Complete", 120)]), 70],
  [
    "goes by the first condition that is True",
    job(10, [condition("Failed", 0, "False"), condition("Complete", 55)]),
    5,
  ],
])("a Job %s", (_title, its, seconds) => {
  const left = timeLeft(its, NOW);
  expect(left).toMatchObject(
    seconds > 0
      ? { type: "pending", remainingMs: seconds * 1000 }
      : { type: "expired", expiredMs: NOW + seconds * 1000 },
  );
});

test.each([
  ["has not finished", job(0, []), false],
  ["is suspended", job(0, [condition("Suspended", 0)]), false],
  ["is about to succeed", job(0, [condition("SuccessCriteriaMet", 0)]), false],
  ["is about to fail", job(0, [condition("FailureTarget", 0)]), false],
  ["has no time to live", job(undefined, [condition("Complete", 0)]), false],
  ["is being deleted", job(0, [condition("Complete", 0)], true), true],
])("nothing is left of a Job that %s", (_title, its, needs) => {
  expect(timeLeft(its, NOW)).toEqual({ type: "none" });
  expect(needsCleanup(its)).toBe(needs);
});

test("a Job that does not say when it finished is an error", () => {
  expect(() => timeLeft(job(0, [condition("Complete", undefined)]), NOW)).toThrow(
    "unable to find the time when the Job n/j finished",
  );
});

import { expect, test } from "vitest";

import type { Job } from "@kubewright/api";

import { jobsOverHistoryLimit } from "./finished-jobs.js";

function job(name: string, type: "Complete" | "Failed" | undefined, startTime?: string): Job {
  return {
    metadata: { name },
    status: {
      ...(startTime === undefined ? {} : { startTime: `2026-03-02T${startTime}:00Z` }),
      ...(type === undefined ? {} : { conditions: [{ type, status: "True" }] }),
    },
  };
}

const names = (jobs: readonly { readonly metadata: { readonly name?: string } }[]): unknown[] =>
  jobs.map((each) => each.metadata.name);

test("history, 51: the success that started first goes", () => {
  const jobs = [job("b", "Complete", "09:00"), job("a", "Complete", "08:00")];
  expect(names(jobsOverHistoryLimit(jobs, { successfulJobsHistoryLimit: 1 }))).toEqual(["a"]);
});

test("history, 52: a limit of zero keeps none", () => {
  expect(names(jobsOverHistoryLimit([job("a", "Complete", "08:00")], { successfulJobsHistoryLimit: 0 }))).toEqual([
    "a",
  ]);
});

test("history, 53: a Job without a start time counts as the newest", () => {
  const jobs = [job("a", "Complete"), job("b", "Complete", "08:00")];
  expect(names(jobsOverHistoryLimit(jobs, { successfulJobsHistoryLimit: 1 }))).toEqual(["b"]);
});

test("history, 54: equal start times go by name", () => {
  const jobs = [job("b", "Complete", "08:00"), job("a", "Complete", "08:00")];
  expect(names(jobsOverHistoryLimit(jobs, { successfulJobsHistoryLimit: 1 }))).toEqual(["a"]);
  expect(names(jobsOverHistoryLimit([job("b", "Failed"), job("a", "Failed")], { failedJobsHistoryLimit: 1 }))).toEqual([
    "a",
  ]);
});

test("history, 55: absent limits keep everything, and each limit counts its own kind", () => {
  const jobs = [
    job("a", "Complete", "08:00"),
    job("b", "Failed", "08:00"),
    job("c", "Failed", "09:00"),
    job("d", undefined),
  ];
  expect(jobsOverHistoryLimit(jobs, {})).toEqual([]);
  expect(names(jobsOverHistoryLimit(jobs, { failedJobsHistoryLimit: 1 }))).toEqual(["b"]);
  expect(names(jobsOverHistoryLimit(jobs, { successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0 }))).toEqual([
    "a",
    "b",
    "c",
  ]);
});

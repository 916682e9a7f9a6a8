import { expect, test } from "vitest";

import { observeMetrics } from "./observe-metrics.js";

const at = (time: string): number => Date.parse(`2026-05-01T${time}Z`) / 1000;
type Labels = Readonly<Record<string, string>>;
const series = (name: string, labels: Labels, ...values: number[]): object => ({
  metric: { __name__: name, namespace: "billing", ...labels },
  values: values.map((value, index) => [at("12:00:00") + index * 60, String(value)]),
});
const started = (job: string, ...times: string[]): object =>
  series("kube_job_status_start_time", { job_name: job }, ...times.map(at));
const completed = (job: string, ...times: string[]): object =>
  series("kube_job_status_completion_time", { job_name: job }, ...times.map(at));
const observe = (...results: object[][]): object[] =>
  observeMetrics(
    results.map((result) => ({
      file: "x.json",
      text: JSON.stringify({ status: "success", data: { resultType: "matrix", result } }),
    })),
  ).map(({ subject: { kind, name }, durationMs, exitCode }) => [kind, name, durationMs, exitCode]);

test.each([
  [
    "a Job of a CronJob, in two answers",
    [[started("report-29540760", "01:00:00", "01:00:00")], [completed("report-29540760", "01:05:00")]],
    [["CronJob", "report", 300_000, 0]],
  ],
  [
    "a Job without a CronJob; seven digits are no slot",
    [[started("migrate-1234567", "01:00:00"), completed("migrate-1234567", "01:00:10")]],
    [["Job", "migrate-1234567", 10_000, 0]],
  ],
  [
    "a Job that was made three times under its name, and once did not complete",
    [[started("migrate", "01:00:00", "02:00:00", "03:00:00"), completed("migrate", "01:00:10", "03:00:20")]],
    [
      ["Job", "migrate", 10_000, 0],
      ["Job", "migrate", 20_000, 0],
    ],
  ],
  [
    "an owner that is known counts for more than the name",
    [
      [started("x", "01:00:00"), completed("x", "01:00:10")],
      [series("kube_job_owner", { job_name: "x", owner_kind: "CronJob", owner_name: "report" }, 1)],
    ],
    [["CronJob", "report", 10_000, 0]],
  ],
  [
    "a failure, for one reason of several, whose length says nothing of a run",
    [
      [
        started("x", "01:00:00"),
        series("kube_job_status_failed", { job_name: "x", reason: "Evicted" }, 0, 0),
        series("kube_job_status_failed", { job_name: "x", reason: "BackoffLimitExceeded" }, 0, 1, 1),
      ],
    ],
    [["Job", "x", undefined, 1]],
  ],
  ["a Job that is under way", [[started("x", "01:00:00"), series("kube_job_status_failed", { job_name: "x" }, 0)]], []],
  ["other metrics", [[series("up", { job_name: "x" }, 1)]], []],
  [
    "what is no sample",
    [[{ metric: { __name__: "kube_job_status_failed", namespace: "a", job_name: "b" }, values: [null, 3] }]],
    [],
  ],
])("%s", (_title, results, expected) => {
  expect(observe(...results)).toEqual(expected);
});

test("the namespace that Prometheus' own label hides is the Job's", () => {
  const result = [series("kube_job_status_failed", { job_name: "x", exported_namespace: "shop" }, 1)];
  const text = JSON.stringify({ data: { result } });
  expect(observeMetrics([{ file: "x.json", text }])[0]?.subject.namespace).toBe("shop");
});

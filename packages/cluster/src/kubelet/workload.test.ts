import { expect, test } from "vitest";

import { parseDuration, parseDurationRange } from "./duration.js";
import { parseExitCodes } from "./exit-codes.js";
import { parseIndexes } from "./index-ranges.js";
import { WorkloadCache, workloadOf } from "./workload.js";

function read(annotations: Record<string, string>) {
  const prefixed = Object.entries(annotations).map(([name, value]) => [`sim.kubewright.dev/${name}`, value] as const);
  return workloadOf({ metadata: { name: "p", annotations: Object.fromEntries(prefixed) } });
}

test("a pod without annotations runs for ten seconds after one second of start-up, and succeeds", () => {
  expect(workloadOf({ metadata: { name: "p", annotations: { other: "x" } } })).toEqual({
    workload: {
      duration: { fromMs: 10_000, toMs: 10_000 },
      startupDelay: { fromMs: 1000, toMs: 1000 },
      exitCode: 0,
      failureRate: 0,
      failureExitCode: 1,
      failingIndexes: [],
      ignoreSigterm: false,
    },
    problems: [],
  });
});

test("pods with equal annotations share one parsed workload, others do not", () => {
  const workloads = new WorkloadCache();
  const annotated = (annotations: Record<string, string>) => workloads.of({ metadata: { annotations } });
  const short = annotated({ "sim.kubewright.dev/duration": "5s", other: "x" });
  expect(short.workload.duration).toEqual({ fromMs: 5000, toMs: 5000 });
  expect(annotated({ other: "y", "sim.kubewright.dev/duration": "5s" })).toBe(short);
  expect(annotated({ "sim.kubewright.dev/duration": "6s" }).workload.duration.toMs).toBe(6000);
  expect(annotated({ "sim.kubewright.dev/startup-delay": "5s" }).workload.startupDelay.toMs).toBe(5000);
  expect(annotated({ "sim.kubewright.dev/duration": "soon" }).problems).toHaveLength(1);
  for (let seconds = 0; seconds < 1000; seconds++) annotated({ "sim.kubewright.dev/duration": `${seconds + 10}s` });
  expect(annotated({ "sim.kubewright.dev/duration": "5s" })).not.toBe(short);
  expect(annotated({ "sim.kubewright.dev/duration": "5s" })).toEqual(short);
});

test("every annotation is read", () => {
  const { workload, problems } = read({
    duration: "20m..70m",
    "startup-delay": "250ms",
    "exit-code": "3",
    "failure-rate": "0.25",
    "failure-exit-code": "42",
    "failing-indexes": "1,3-5",
    "ignore-sigterm": "true",
  });
  expect(problems).toEqual([]);
  expect(workload).toEqual({
    duration: { fromMs: 1_200_000, toMs: 4_200_000 },
    startupDelay: { fromMs: 250, toMs: 250 },
    exitCode: 3,
    failureRate: 0.25,
    failureExitCode: 42,
    failingIndexes: [
      { first: 1, last: 1 },
      { first: 3, last: 5 },
    ],
    ignoreSigterm: true,
  });
});

test("an annotation that cannot be read is named with the fix, and its default is used", () => {
  const { workload, problems } = read({ duration: "10 minutes", "exit-code": "256", "failure-rate": "50%" });
  expect(workload).toMatchObject({ duration: { fromMs: 10_000 }, exitCode: 0, failureRate: 0 });
  expect(problems).toEqual([
    'annotation sim.kubewright.dev/duration is "10 minutes": write a duration such as 30s, 5m, 1h30m or 250ms, a range such as 20m..70m, or a distribution such as normal(10m, 2m); the default, 10s, is used',
    'annotation sim.kubewright.dev/exit-code is "256": write a whole number from 0 to 255, or several with their shares such as 0=0.9,1=0.1; the default, 0, is used',
    'annotation sim.kubewright.dev/failure-rate is "50%": write a number from 0 to 1 such as 0.2; the default, 0, is used',
  ]);
});

test("a misspelt annotation is reported with the names there are", () => {
  expect(read({ durration: "5m" }).problems).toEqual([
    "annotation sim.kubewright.dev/durration is unknown and has no effect; known annotations are duration, startup-delay, exit-code, failure-rate, failure-exit-code, failing-indexes, ignore-sigterm, rules",
  ]);
});

test("durations are Go's, without a sign", () => {
  const texts = ["30s", "1h30m", "250ms", "1.5h", ".5s", "0", "5", "", "-5s", "1d", "5 m", "s"];
  expect(texts.map(parseDuration)).toEqual([
    30_000,
    5_400_000,
    250,
    5_400_000,
    500,
    0,
    ...Array.from({ length: 6 }, () => undefined),
  ]);
});

test("a range must have two ends in order", () => {
  expect(parseDurationRange("1m .. 2m")).toEqual({ fromMs: 60_000, toMs: 120_000 });
  expect(["2m..1m", "1m..", "..1m", "1m..2m..3m"].map(parseDurationRange)).toEqual(
    Array.from({ length: 4 }, () => undefined),
  );
});

test("indexes are numbers and rising ranges", () => {
  expect(parseIndexes("7, 1-2")).toEqual([
    { first: 7, last: 7 },
    { first: 1, last: 2 },
  ]);
  expect(parseIndexes("")).toEqual([]);
  expect(["a", "1-", "5-3", "1,,2", "-1"].map(parseIndexes)).toEqual(Array.from({ length: 5 }, () => undefined));
});

test("distributions are read, with or without bounds", () => {
  expect(parseDurationRange("normal(10m, 2m)")).toEqual({
    fromMs: 0,
    toMs: Infinity,
    spread: { type: "normal", meanMs: 600_000, deviationMs: 120_000 },
  });
  expect(parseDurationRange("lognormal(10m,0.5) in 5m..2h")).toEqual({
    fromMs: 300_000,
    toMs: 7_200_000,
    spread: { type: "lognormal", medianMs: 600_000, sigma: 0.5 },
  });
  expect(parseDurationRange("exponential(10m)")?.spread).toEqual({ type: "exponential", meanMs: 600_000 });
  for (const text of [
    "normal(10m)",
    "exponential(1m, 2m)",
    "normal(10, 2m)",
    "lognormal(1m, 2m)",
    "gamma(1m)",
    "normal(1m, 1m) in 2m..1m",
  ])
    expect([text, parseDurationRange(text)]).toEqual([text, undefined]);
});

test("exit codes are read with their shares", () => {
  expect(parseExitCodes("0=0.9,137=0.1")).toEqual([
    { exitCode: 0, share: 0.9 },
    { exitCode: 137, share: 0.1 },
  ]);
  for (const text of ["0=0", "256=1", "0=-1", "=1", "0=1,"])
    expect([text, parseExitCodes(text)]).toEqual([text, undefined]);
});

test("rules that cannot be parsed are reported, and none of them applies", () => {
  for (const rules of ["{}", "[1]", '[{"duration":5}]', '[{"during":"5m"}]', "["]) {
    const { workload, problems } = read({ rules });
    expect([rules, workload.rules, problems.length]).toEqual([rules, undefined, 1]);
  }
});

test("an annotation as long as a pod may have is refused at once", () => {
  const digits = "1".repeat(250_000);
  const { workload, problems } = read({ duration: digits, "exit-code": `1=${digits}x`, "failure-rate": `${digits}x` });
  expect(problems).toHaveLength(3);
  expect(workload).toMatchObject({ duration: { fromMs: 10_000 }, exitCode: 0, failureRate: 0 });
});

import { expect, test } from "vitest";

import type { Pod } from "@kubewright/api";
import { seededRandom } from "@kubewright/clock";

import { PodOutcomeSampler } from "./pod-outcome-sampler.js";
import { workloadOf } from "./workload.js";

function jobPod(job: string, name: string, index?: number): Pod {
  const annotations = index === undefined ? {} : { "batch.kubernetes.io/job-completion-index": String(index) };
  return {
    metadata: {
      name,
      namespace: "default",
      uid: `uid-of-${name}`,
      annotations,
      ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: job, uid: `uid-of-${job}`, controller: true }],
    },
  };
}

const { workload } = workloadOf({
  metadata: { annotations: { "sim.kubewright.dev/duration": "1s..1h", "sim.kubewright.dev/failure-rate": "0.5" } },
});

function outcomes(sampler: PodOutcomeSampler, pods: readonly Pod[]) {
  return pods.map((pod) => sampler.sampleExecution(pod, workload, sampler.identify(pod), 0));
}

test("an additional pod elsewhere, and other names and UIDs, change no pod's outcome", () => {
  const before = outcomes(new PodOutcomeSampler(seededRandom(1)), [
    jobPod("a", "a-1"),
    jobPod("a", "a-2"),
    jobPod("b", "b-1"),
  ]);
  const after = outcomes(new PodOutcomeSampler(seededRandom(1)), [
    jobPod("c", "c-9"),
    jobPod("a", "a-8"),
    jobPod("b", "b-7"),
    jobPod("a", "a-6"),
  ]);
  expect([after[1], after[3], after[2]]).toEqual(before);
  expect(new Set(before.map(({ durationMs }) => durationMs)).size).toBe(3);
});

test("a controller's pods are counted until at least 10,000 other controllers were seen", () => {
  const sampler = new PodOutcomeSampler(seededRandom(1));
  const countPodOf = (from: number, to: number): void => {
    for (let job = from; job < to; job++) sampler.identify(jobPod(`job-${job}`, "pod"));
  };
  const ordinal = (): number => sampler.identify(jobPod("a", "pod")).ordinal;
  expect([ordinal(), ordinal()]).toEqual([0, 1]);
  countPodOf(0, 9_990);
  expect(ordinal()).toBe(2);
  countPodOf(9_990, 19_980);
  expect(ordinal()).toBe(3);
  countPodOf(19_980, 39_980);
  expect(ordinal()).toBe(0);
});

test("another seed samples other outcomes", () => {
  const pods = [jobPod("a", "a-1")];
  expect(outcomes(new PodOutcomeSampler(seededRandom(2)), pods)).not.toEqual(
    outcomes(new PodOutcomeSampler(seededRandom(1)), pods),
  );
});

test("each restart samples again", () => {
  const sampler = new PodOutcomeSampler(seededRandom(1));
  const pod = jobPod("a", "a-1");
  const identity = sampler.identify(pod);
  const attempts = [0, 1, 2, 3].map((number) => sampler.sampleExecution(pod, workload, identity, number).durationMs);
  expect(new Set(attempts).size).toBe(4);
});

test("durations stay in their range, and failures come at their rate", () => {
  const sampler = new PodOutcomeSampler(seededRandom(1));
  const sampled = outcomes(
    sampler,
    Array.from({ length: 1000 }, (_, number) => jobPod("a", `a-${number}`)),
  );
  for (const { durationMs } of sampled) expect(durationMs >= 1000 && durationMs <= 3_600_000).toBe(true);
  const failures = sampled.filter(({ exitCode }) => exitCode === 1).length;
  expect(failures).toBeGreaterThan(430);
  expect(failures).toBeLessThan(570);
  const mean = sampled.reduce((sum, { durationMs }) => sum + durationMs, 0) / sampled.length;
  expect(Math.abs(mean - 1_800_500)).toBeLessThan(120_000);
});

test("pods of failing indexes always fail, others as they would have", () => {
  const failing = workloadOf({ metadata: { annotations: { "sim.kubewright.dev/failing-indexes": "1,3-5" } } }).workload;
  const sampler = new PodOutcomeSampler(seededRandom(1));
  const exitCodes = [0, 1, 2, 3, 4, 5, 6].map((index) => {
    const pod = jobPod("a", `a-${index}`, index);
    return sampler.sampleExecution(pod, failing, sampler.identify(pod), 0).exitCode;
  });
  expect(exitCodes).toEqual([0, 1, 0, 1, 1, 1, 0]);
});

/** Returns the workload of a pod with these annotations. */
function workloadWith(annotations: Record<string, string>) {
  const prefixed = Object.entries(annotations).map(([name, value]) => [`sim.kubewright.dev/${name}`, value] as const);
  const { workload: read, problems } = workloadOf({ metadata: { annotations: Object.fromEntries(prefixed) } });
  expect(problems).toEqual([]);
  return read;
}

test.each([
  ["normal(10m, 2m)", 600_000, 120_000],
  ["lognormal(10m, 0.2)", 612_000, 124_000],
  ["exponential(10m)", 600_000, 600_000],
])("what is drawn from %s has its mean and deviation", (duration, wantedMean, wantedDeviation) => {
  const spread = workloadWith({ duration });
  const sampler = new PodOutcomeSampler(seededRandom(1));
  const sampled = Array.from({ length: 4000 }, (_, number) => jobPod("a", `a-${number}`)).map(
    (pod) => sampler.sampleExecution(pod, spread, sampler.identify(pod), 0).durationMs,
  );
  const mean = sampled.reduce((sum, ms) => sum + ms, 0) / sampled.length;
  const deviation = Math.sqrt(sampled.reduce((sum, ms) => sum + (ms - mean) ** 2, 0) / sampled.length);
  expect(Math.abs(mean / wantedMean - 1)).toBeLessThan(0.05);
  expect(Math.abs(deviation / wantedDeviation - 1)).toBeLessThan(0.08);
});

test("runs that all take as long fail at their rate nevertheless", () => {
  const failing = workloadWith({ duration: "1m", "failure-rate": "0.5" });
  const sampler = new PodOutcomeSampler(seededRandom(1));
  const failures = Array.from({ length: 1000 }, (_, number) => jobPod("a", `a-${number}`)).filter(
    (pod) => sampler.sampleExecution(pod, failing, sampler.identify(pod), 0).exitCode === 1,
  );
  expect(Math.abs(failures.length - 500)).toBeLessThan(70);
});

test("exit codes come in their shares", () => {
  const shared = workloadWith({ "exit-code": "0=8,3=1,137=1" });
  const sampler = new PodOutcomeSampler(seededRandom(1));
  const counts = new Map<number, number>();
  for (let number = 0; number < 2000; number++) {
    const pod = jobPod("a", `a-${number}`);
    const { exitCode } = sampler.sampleExecution(pod, shared, sampler.identify(pod), 0);
    counts.set(exitCode, (counts.get(exitCode) ?? 0) + 1);
  }
  expect([...counts.keys()].sort((a, b) => a - b)).toEqual([0, 3, 137]);
  expect(Math.abs(counts.get(0)! - 1600)).toBeLessThan(80);
  expect(Math.abs(counts.get(3)! - 200)).toBeLessThan(60);
});

test("rules match by container, index and attempt, and the last match wins", () => {
  const ruled = workloadWith({
    duration: "10s",
    rules: JSON.stringify([
      { duration: "1m" },
      { container: "sidecar", duration: "2m" },
      { indexes: "1", attempts: "1-2", exitCode: "7" },
      { indexes: "2", container: "sidecar", exitCode: "9" },
    ]),
  });
  const sampler = new PodOutcomeSampler(seededRandom(1));
  const outcome = (index: number, number = 0) => {
    const pod = jobPod("a", "a", index);
    pod.spec = { containers: [{ name: "main" }, { name: "sidecar" }] };
    return sampler.sampleExecution(pod, ruled, sampler.identify(pod), number);
  };
  expect(outcome(0)).toEqual({
    durationMs: 120_000,
    exitCode: 0,
    containers: [
      { name: "main", durationMs: 60_000, exitCode: 0 },
      { name: "sidecar", durationMs: 120_000, exitCode: 0 },
    ],
  });
  // The first two pods of index 1 fail; the first restart of its first pod would fail as well, but not a third attempt.
  expect([outcome(1).exitCode, outcome(1).exitCode, outcome(1).exitCode]).toEqual([7, 7, 0]);
  expect(outcome(2).exitCode).toBe(9);
  expect([outcome(2).containers?.[0]?.exitCode, outcome(2).containers?.[1]?.exitCode]).toEqual([0, 9]);
});

import { expect, test } from "vitest";

import type { Pod } from "@kubewright/api";
import { seededRandom } from "@kubewright/clock";

import { Lots } from "./lots.js";
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

function fates(lots: Lots, pods: readonly Pod[]) {
  return pods.map((pod) => lots.attempt(pod, workload, lots.identify(pod), 0));
}

test("one pod more elsewhere, and other names and UIDs for all, change nobody's fate", () => {
  const before = fates(new Lots(seededRandom(1)), [jobPod("a", "a-1"), jobPod("a", "a-2"), jobPod("b", "b-1")]);
  const after = fates(new Lots(seededRandom(1)), [
    jobPod("c", "c-9"),
    jobPod("a", "a-8"),
    jobPod("b", "b-7"),
    jobPod("a", "a-6"),
  ]);
  expect([after[1], after[3], after[2]]).toEqual(before);
  expect(new Set(before.map(({ durationMs }) => durationMs)).size).toBe(3);
});

test("another seed draws other lots", () => {
  const pods = [jobPod("a", "a-1")];
  expect(fates(new Lots(seededRandom(2)), pods)).not.toEqual(fates(new Lots(seededRandom(1)), pods));
});

test("each restart draws again", () => {
  const lots = new Lots(seededRandom(1));
  const pod = jobPod("a", "a-1");
  const identity = lots.identify(pod);
  const attempts = [0, 1, 2, 3].map((number) => lots.attempt(pod, workload, identity, number).durationMs);
  expect(new Set(attempts).size).toBe(4);
});

test("durations stay in their range, and failures come at their rate", () => {
  const lots = new Lots(seededRandom(1));
  const drawn = fates(
    lots,
    Array.from({ length: 1000 }, (_, number) => jobPod("a", `a-${number}`)),
  );
  for (const { durationMs } of drawn) expect(durationMs >= 1000 && durationMs <= 3_600_000).toBe(true);
  const failures = drawn.filter(({ exitCode }) => exitCode === 1).length;
  expect(failures).toBeGreaterThan(430);
  expect(failures).toBeLessThan(570);
  const mean = drawn.reduce((sum, { durationMs }) => sum + durationMs, 0) / drawn.length;
  expect(Math.abs(mean - 1_800_500)).toBeLessThan(120_000);
});

test("pods of failing indexes always fail, others as they would have", () => {
  const failing = workloadOf({ metadata: { annotations: { "sim.kubewright.dev/failing-indexes": "1,3-5" } } }).workload;
  const lots = new Lots(seededRandom(1));
  const exitCodes = [0, 1, 2, 3, 4, 5, 6].map((index) => {
    const pod = jobPod("a", `a-${index}`, index);
    return lots.attempt(pod, failing, lots.identify(pod), 0).exitCode;
  });
  expect(exitCodes).toEqual([0, 1, 0, 1, 1, 1, 0]);
});

import { expect, test } from "vitest";

import type { Pod } from "@kubewright/api";

import { decideStep } from "./decide-step.js";
import type { PodRun, Stage } from "./pod-run.js";
import { workloadOf } from "./workload.js";

/** Wall time is 1000 s when monotonic time is 0. */
const WALL_OFFSET_MS = 1_000_000;

interface Given {
  readonly stage: Stage;
  readonly restartPolicy?: string;
  readonly deadline?: number;
  /** Monotonic time in seconds: when the deletion was observed, and when the grace period ends. */
  readonly deletion?: readonly [seen: number, end: number];
  readonly ignoreSigterm?: boolean;
  readonly backOff?: PodRun["backOff"];
}

function decide(given: Given, nowSeconds: number) {
  const { restartPolicy = "Never", deadline, deletion, backOff } = given;
  const annotations = given.ignoreSigterm === true ? { "sim.kubewright.dev/ignore-sigterm": "true" } : {};
  const pod: Pod = {
    metadata: {
      annotations,
      ...(deletion === undefined
        ? {}
        : {
            deletionTimestamp: new Date(deletion[1] * 1000 + WALL_OFFSET_MS).toISOString(),
            deletionGracePeriodSeconds: 30,
          }),
    },
    spec: { containers: [], restartPolicy, ...(deadline === undefined ? {} : { activeDeadlineSeconds: deadline }) },
  };
  const run: PodRun = {
    uid: "u",
    identity: { label: "i", ordinal: 0 },
    workload: workloadOf(pod).workload,
    acceptedAtMs: 0,
    stage: given.stage,
    ...(deletion === undefined ? {} : { deletionSeenAtMs: deletion[0] * 1000 }),
    ...(backOff === undefined ? {} : { backOff }),
  };
  return decideStep(pod, run, nowSeconds * 1000, WALL_OFFSET_MS);
}

const running = (exitCode: number): Stage => ({
  name: "running",
  restarts: 0,
  startedAtMs: 1000,
  startedAt: "",
  execution: { durationMs: 60_000, exitCode },
});
const starting: Stage = { name: "starting", startAtMs: 1000 };
const exited = (exitCode: number) => ({ type: "finish", end: { cause: "exited", exitCode } });
const wait = (seconds: number) => ({ type: "wait", untilMs: seconds * 1000 });

test("a pod is accepted at once, started after its start-up, and ended after its duration", () => {
  expect(decide({ stage: { name: "bound" } }, 0)).toEqual({ type: "accept" });
  expect(decide({ stage: starting }, 0.5)).toEqual(wait(1));
  expect(decide({ stage: starting }, 1)).toEqual({ type: "start" });
  expect(decide({ stage: running(0) }, 60)).toEqual(wait(61));
  expect(decide({ stage: running(0) }, 61)).toEqual(exited(0));
  expect(decide({ stage: { name: "finished" } }, 99)).toEqual(wait(Infinity));
});

test("whether containers that exit are restarted is up to the restart policy and the exit code", () => {
  const restart = { type: "restart", exitCode: 3, exitedAtMs: 61_000 };
  expect(decide({ stage: running(3), restartPolicy: "Never" }, 61)).toEqual(exited(3));
  expect(decide({ stage: running(3), restartPolicy: "OnFailure" }, 61)).toEqual(restart);
  expect(decide({ stage: running(0), restartPolicy: "OnFailure" }, 61)).toEqual(exited(0));
  expect(decide({ stage: running(0), restartPolicy: "Always" }, 61)).toEqual({ ...restart, exitCode: 0 });
});

test("containers that crashed before wait out their back-off", () => {
  const backOff = { delayMs: 20_000, sinceMs: 1000 };
  const given = { stage: running(3), restartPolicy: "OnFailure", backOff };
  expect(decide(given, 61)).toEqual({ type: "backOff", exitCode: 3, exitedAtMs: 61_000, restartAtMs: 81_000 });
  const last = { exitCode: 3 };
  const stage: Stage = { name: "backingOff", restarts: 1, exitedAtMs: 61_000, restartAtMs: 81_000, last };
  expect(decide({ stage }, 80)).toEqual(wait(81));
  expect(decide({ stage }, 81)).toEqual({ type: "resume" });
  expect(decide({ stage, deletion: [70, 100] }, 70)).toEqual(exited(3));
});

test("the deadline ends a pod in any stage, but not one that ends by itself at that time", () => {
  const deadlineExceeded = { type: "finish", end: { cause: "deadlineExceeded" } };
  expect(decide({ stage: running(0), deadline: 30 }, 29)).toEqual(wait(30));
  expect(decide({ stage: running(0), deadline: 30 }, 30)).toEqual(deadlineExceeded);
  expect(decide({ stage: running(0), deadline: 61 }, 61)).toEqual(exited(0));
  expect(decide({ stage: { name: "starting", startAtMs: 50_000 }, deadline: 30 }, 30)).toEqual(deadlineExceeded);
});

test("a deleted pod exits a second after SIGTERM with 143, or when its grace is over with 137", () => {
  expect(decide({ stage: running(0), deletion: [10, 40] }, 10)).toEqual(wait(11));
  expect(decide({ stage: running(0), deletion: [10, 40] }, 11)).toEqual(exited(143));
  expect(decide({ stage: running(0), deletion: [10, 40], ignoreSigterm: true }, 39)).toEqual(wait(40));
  expect(decide({ stage: running(0), deletion: [10, 40], ignoreSigterm: true }, 40)).toEqual(exited(137));
  expect(decide({ stage: running(0), deletion: [10, 10] }, 10)).toEqual(exited(137));
});

test("a deleted pod whose containers exit in time by themselves ends as they say, and is not restarted", () => {
  expect(decide({ stage: running(0), deletion: [60.5, 90] }, 61)).toEqual(exited(0));
  expect(decide({ stage: running(3), deletion: [60.5, 90], restartPolicy: "OnFailure" }, 61)).toEqual(exited(3));
});

test("a pod deleted before it ran ends at once", () => {
  const neverRan = { type: "finish", end: { cause: "neverRan" } };
  expect(decide({ stage: { name: "bound" }, deletion: [0, 30] }, 0)).toEqual(neverRan);
  expect(decide({ stage: starting, deletion: [0, 30] }, 0)).toEqual(neverRan);
});

test("a pod that has ended and is being deleted is removed", () => {
  expect(decide({ stage: { name: "finished" }, deletion: [0, 30] }, 1)).toEqual({ type: "remove" });
});

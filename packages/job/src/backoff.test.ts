import { type ContainerStatus, type Pod, mutableCopy } from "@kubewright/api";
import { expect, test } from "vitest";

import { T0, at, failed, pod, succeeded } from "../test/fixtures.js";
import { NO_BACKOFF, nextBackoffRecord, remainingBackoffMs, remainingBackoffOfRecordMs } from "./backoff.js";
import type { PodObject } from "./job-spec.js";
import { podFinishTimeMs } from "./pod-finish-time.js";

const secondsOf = (finished: PodObject): number => (podFinishTimeMs(finished) - T0) / 1000;

function changed(original: PodObject, change: (copy: Pod) => void): PodObject {
  const copy = mutableCopy(original) as Pod;
  change(copy);
  return copy;
}

const status = (name: string, finishedAt: number | undefined): ContainerStatus => ({
  name,
  image: "",
  imageID: "",
  ready: false,
  restartCount: 0,
  state: finishedAt === undefined ? { running: {} } : { terminated: { exitCode: 1, finishedAt: at(finishedAt) } },
});

test("the delay doubles from 10 s with each failure, up to 10 min, counted from the end of the last pod", () => {
  const delays = [1, 2, 3, 4, 5, 6, 7, 8, 2000].map((failures) => remainingBackoffMs(failures, T0, T0) / 1000);
  expect(delays).toEqual([10, 20, 40, 80, 160, 320, 600, 600, 600]);
  expect(remainingBackoffMs(1, T0, T0 + 9_700)).toBe(300);
  expect(remainingBackoffMs(1, T0, T0 + 11_000)).toBe(0);
  expect(remainingBackoffMs(0, T0, T0)).toBe(0);
});

test("a failure in the future, by a skewed clock, is waited for as well", () => {
  expect(remainingBackoffMs(1, T0 + 5_000, T0)).toBe(15_000);
});

test("failures add up until a success, which forgets those that did not end strictly after it", () => {
  const two = nextBackoffRecord(NO_BACKOFF, [], [failed("a", { finishedAt: 3 }), failed("b", { finishedAt: 1 })]);
  expect(two).toEqual({ failuresAfterLastSuccess: 2, lastFailureMs: T0 + 3_000 });
  expect(nextBackoffRecord(two, [], [])).toBe(two);
  expect(nextBackoffRecord(two, [], [failed("c", { finishedAt: 9 })])).toEqual({
    failuresAfterLastSuccess: 3,
    lastFailureMs: T0 + 9_000,
  });
  expect(nextBackoffRecord(two, [succeeded("s", { finishedAt: 4 })], [])).toEqual(NO_BACKOFF);

  const same = nextBackoffRecord(two, [succeeded("s", { finishedAt: 4 })], [failed("c", { finishedAt: 4 })]);
  expect(same).toEqual(NO_BACKOFF);
  expect(remainingBackoffOfRecordMs(same, T0)).toBe(0);
  const later = [failed("c", { finishedAt: 5 }), failed("d", { finishedAt: 7 }), failed("e", { finishedAt: 1 })];
  expect(nextBackoffRecord(two, [succeeded("s", { finishedAt: 4 })], later)).toEqual({
    failuresAfterLastSuccess: 2,
    lastFailureMs: T0 + 7_000,
  });
});

test("a pod's end is the last finish of its containers", () => {
  const ended = changed(failed("a"), (copy) => (copy.status!.containerStatuses = [status("x", 5), status("y", 8)]));
  expect(secondsOf(ended)).toBe(8);
});

test("a sidecar may end after the containers, and while it runs the pod has no finish time from them", () => {
  const withSidecar = (sidecarEnd: number | undefined): PodObject =>
    changed(failed("a", { createdAt: 1 }), (copy) => {
      copy.spec!.initContainers = [{ name: "proxy", restartPolicy: "Always" }, { name: "setup" }];
      copy.status!.containerStatuses = [status("x", 5)];
      copy.status!.initContainerStatuses = [status("setup", 99), status("proxy", sidecarEnd)];
    });
  expect(secondsOf(withSidecar(9))).toBe(9);
  expect(secondsOf(withSidecar(2))).toBe(5);
  expect(secondsOf(withSidecar(undefined))).toBe(1);
});

test("without finished containers, it is when the pod stopped being ready, was deleted or was created", () => {
  const ready = (value: string): NonNullable<Pod["status"]> => ({
    phase: "Failed",
    conditions: [{ type: "Ready", status: value, lastTransitionTime: at(7) }],
  });
  const bare = (change: (copy: Pod) => void): PodObject => changed(pod("a", { createdAt: 2 }), change);
  expect(secondsOf(bare((copy) => (copy.status = ready("False"))))).toBe(7);
  expect(secondsOf(bare((copy) => (copy.status = ready("True"))))).toBe(2);
  const deleting = bare((copy) => {
    copy.status = ready("True");
    copy.metadata.deletionTimestamp = at(60);
    copy.metadata.deletionGracePeriodSeconds = 30;
  });
  expect(secondsOf(deleting)).toBe(30);
  // In Go's durations these seconds overflow to minus 267 years.
  const patient = changed(deleting, (copy) => (copy.metadata.deletionGracePeriodSeconds = 10_000_000_000));
  expect(secondsOf(patient)).toBeCloseTo(60 + 8_446_744_073.71, 1);
  expect(secondsOf(bare((copy) => (copy.status = {})))).toBe(2);
});

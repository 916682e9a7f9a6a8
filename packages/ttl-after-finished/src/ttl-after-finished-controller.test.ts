import { expect, test } from "vitest";

import { mutableCopy } from "@kubewright/api";

import { Harness } from "../test/harness.js";

test("a Job with a time of 0 is deleted the moment it finishes", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.createJob(0);
  await harness.advance(7);
  await harness.finishJob();
  expect(harness.sent()).toEqual(["7 GET jobs/j", "7 DELETE jobs/j"]);
  expect(harness.durations).toEqual([0]);
  await harness.stop();
});

test("a Job is deleted in the foreground, told by its UID, exactly when its time is over", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.createJob(10);
  await harness.advance(5);
  await harness.finishJob();
  expect(harness.clock.pendingTimers).toBe(1);
  await harness.advance(9.999);
  expect(harness.sent()).toEqual([]);
  await harness.advance(0.001);
  expect(harness.sent()).toEqual(["15 GET jobs/j", "15 DELETE jobs/j"]);
  const job = await harness.getJob();
  expect(harness.bodies).toEqual([
    {
      kind: "DeleteOptions",
      apiVersion: "v1",
      propagationPolicy: "Foreground",
      preconditions: { uid: job?.metadata.uid },
    },
  ]);
  expect(job?.metadata.finalizers).toEqual(["foregroundDeletion"]);
  const deletedMs = harness.clock.now();
  expect(harness.decisions).toMatchObject([
    { outcome: "waiting", expiresMs: deletedMs },
    { outcome: "deleted", expiresMs: deletedMs, atMs: deletedMs },
  ]);
  await harness.advance(3600);
  expect(harness.sent()).toEqual([]);
  await harness.stop();
});

test("a Job that failed before the controller started has the rest of its time", async () => {
  const harness = new Harness();
  await harness.createJob(15);
  await harness.finishJob("Failed");
  await harness.advance(10);
  await harness.start();
  await harness.advance(100);
  expect(harness.sent()).toEqual(["15 GET jobs/j", "15 DELETE jobs/j"]);
  await harness.stop();
});

test.each([
  ["has not finished", async (harness: Harness) => harness.createJob(0)],
  ["is suspended", async (harness: Harness) => harness.createJob(0, { suspend: true })],
  [
    "has no time to live",
    async (harness: Harness) => {
      await harness.createJob();
      await harness.finishJob();
    },
  ],
  [
    "is about to succeed",
    async (harness: Harness) => {
      await harness.createJob(0);
      await harness.setConditions([harness.condition("SuccessCriteriaMet", "True")]);
    },
  ],
])("a Job that %s is let be, and holds no timer", async (_title, prepare) => {
  const harness = new Harness();
  await harness.start();
  await prepare(harness);
  expect(harness.clock.pendingTimers).toBe(0);
  await harness.advance(3600);
  expect(harness.sent()).toEqual([]);
  await harness.stop();
});

test("a time that is raised is looked up again when the old one is over", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.createJob(10);
  await harness.finishJob();
  await harness.advance(5);
  await harness.setTTL(100);
  await harness.advance(94.999);
  expect(harness.sent()).toEqual([]);
  await harness.advance(1);
  expect(harness.sent()).toEqual(["100 GET jobs/j", "100 DELETE jobs/j"]);
  await harness.stop();
});

test("a time that is removed keeps the Job", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.createJob(10);
  await harness.finishJob();
  await harness.setTTL(null);
  await harness.advance(3600);
  expect(harness.sent()).toEqual([]);
  await harness.stop();
});

test.each([
  ["lowered", 100],
  ["set", undefined],
])("a time that is %s to what is over deletes the Job at once", async (_title, before) => {
  const harness = new Harness();
  await harness.start();
  await harness.createJob(before);
  await harness.finishJob();
  await harness.advance(50);
  await harness.setTTL(1);
  expect(harness.sent()).toEqual(["50 GET jobs/j", "50 DELETE jobs/j"]);
  expect(harness.durations).toEqual([49]);
  await harness.stop();
});

test("a live Job with more time than the cached one is not deleted, but looked at again", async () => {
  const harness = new Harness();
  harness.transform = (job) => ({ ...job, spec: { ...mutableCopy(job).spec!, ttlSecondsAfterFinished: 10 } });
  await harness.start();
  await harness.createJob(1000);
  await harness.finishJob();
  await harness.advance(999);
  expect(harness.sent()).toEqual(["10 GET jobs/j"]);
  await harness.advance(1);
  expect(harness.sent()).toEqual(["1000 GET jobs/j", "1000 DELETE jobs/j"]);
  await harness.stop();
});

test("a new Job of the same name is let be", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.createJob(10);
  await harness.finishJob();
  harness.intercept = async (request) => {
    if (request !== "GET jobs/j") return;
    harness.intercept = () => undefined;
    await harness.removeJob();
    await harness.createJob(10);
  };
  await harness.advance(3600);
  expect(harness.sent()).toEqual(["10 GET jobs/j"]);
  await harness.stop();
});

test("a Job that takes the other's place at the last moment is not deleted in its stead", async () => {
  const harness = new Harness();
  await harness.start();
  await harness.createJob(10);
  await harness.finishJob();
  harness.intercept = async (request) => {
    if (request !== "DELETE jobs/j") return;
    harness.intercept = () => undefined;
    await harness.removeJob();
    await harness.createJob(10);
  };
  await harness.advance(60);
  expect(harness.sent()).toEqual(["10 GET jobs/j", "10 DELETE jobs/j"]);
  expect((await harness.getJob())?.metadata.deletionTimestamp).toBeUndefined();
  await harness.finishJob();
  await harness.advance(60);
  expect(harness.sent()).toEqual(["70 GET jobs/j", "70 DELETE jobs/j"]);
  await harness.stop();
});

test("a Job that finished in the future is deleted when that has come and its time is over", async () => {
  const harness = new Harness();
  harness.transform = (job) => {
    const copy = mutableCopy(job);
    for (const condition of copy.status?.conditions ?? []) condition.lastTransitionTime = harness.time(60);
    return copy;
  };
  await harness.start();
  await harness.createJob(10);
  await harness.finishJob();
  await harness.advance(69.999);
  expect(harness.sent()).toEqual([]);
  await harness.advance(0.001);
  expect(harness.sent()).toEqual(["70 GET jobs/j", "70 DELETE jobs/j"]);
  expect(new Set(harness.warnings)).toEqual(
    new Set([
      "Warning: Found Job finished in the future. This is likely due to time skew in the cluster. Job cleanup will be deferred.",
    ]),
  );
  await harness.stop();
});

test("a Job that does not say when it finished is tried again with back-off", async () => {
  const harness = new Harness();
  let looks = 0;
  harness.transform = (job) => {
    const copy = mutableCopy(job);
    for (const condition of copy.status?.conditions ?? []) {
      Object.defineProperty(condition, "lastTransitionTime", { get: () => void looks++ });
    }
    return copy;
  };
  await harness.start();
  await harness.createJob(0);
  await harness.finishJob();
  expect(looks).toBe(1);
  await harness.advance(0.005);
  expect(looks).toBe(2);
  await harness.advance(0.009);
  expect(looks).toBe(2);
  await harness.advance(0.001);
  expect(looks).toBe(3);
  expect(harness.sent()).toEqual([]);
  await harness.stop();
});

test("a Job that is being deleted is let be", async () => {
  const harness = new Harness();
  await harness.createJob(0);
  await harness.jobs.delete("j", { namespace: "default", propagationPolicy: "Foreground" });
  await harness.finishJob();
  await harness.start();
  await harness.advance(3600);
  expect(harness.sent()).toEqual([]);
  await harness.stop();
});

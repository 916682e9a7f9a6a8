import { expect, test } from "vitest";

import { mutableCopy } from "@kubewright/api";

import { Harness } from "../test/harness.js";

test("a Job with a time of 0 is deleted the moment it finishes", async () => {
  const harness = await Harness.begin();
  await harness.start();
  await harness.createJob(0);
  await harness.advance(7);
  await harness.finishJob();
  expect(harness.sent()).toEqual(["7 get jobs.batch default/j", "7 delete jobs.batch default/j"]);
  expect(harness.durations).toEqual([0]);
});

test("a Job is deleted in the foreground, with its UID as precondition, exactly when its TTL expires", async () => {
  const harness = await Harness.begin();
  await harness.start();
  await harness.createJob(10);
  await harness.advance(5);
  await harness.finishJob();
  expect(harness.pendingTimers).toBe(1);
  await harness.advance(9.999);
  expect(harness.sent()).toEqual([]);
  await harness.advance(0.001);
  expect(harness.sent()).toEqual(["15 get jobs.batch default/j", "15 delete jobs.batch default/j"]);
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
  const deletedMs = harness.nowMs;
  expect(harness.decisions).toMatchObject([
    { outcome: "waiting", expiresMs: deletedMs },
    { outcome: "deleted", expiresMs: deletedMs, atMs: deletedMs },
  ]);
  await harness.advance(3600);
  expect(harness.sent()).toEqual([]);
});

test("a Job that failed before the controller started has the rest of its time", async () => {
  const harness = await Harness.begin();
  await harness.createJob(15);
  await harness.finishJob("Failed");
  await harness.advance(10);
  await harness.start();
  await harness.advance(100);
  expect(harness.sent()).toEqual(["15 get jobs.batch default/j", "15 delete jobs.batch default/j"]);
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
])("a Job that %s is kept, and has no timer", async (_title, prepare) => {
  const harness = await Harness.begin();
  await harness.start();
  await prepare(harness);
  expect(harness.pendingTimers).toBe(0);
  await harness.advance(3600);
  expect(harness.sent()).toEqual([]);
});

test("a time that is raised is looked up again when the old one is over", async () => {
  const harness = await Harness.begin();
  await harness.start();
  await harness.createJob(10);
  await harness.finishJob();
  await harness.advance(5);
  await harness.setTTL(100);
  await harness.advance(94.999);
  expect(harness.sent()).toEqual([]);
  await harness.advance(1);
  expect(harness.sent()).toEqual(["100 get jobs.batch default/j", "100 delete jobs.batch default/j"]);
});

test("a time that is removed keeps the Job", async () => {
  const harness = await Harness.begin();
  await harness.start();
  await harness.createJob(10);
  await harness.finishJob();
  await harness.setTTL(null);
  await harness.advance(3600);
  expect(harness.sent()).toEqual([]);
});

test.each([
  ["lowered", 100],
  ["set", undefined],
])("a time that is %s to what is over deletes the Job at once", async (_title, before) => {
  const harness = await Harness.begin();
  await harness.start();
  await harness.createJob(before);
  await harness.finishJob();
  await harness.advance(50);
  await harness.setTTL(1);
  expect(harness.sent()).toEqual(["50 get jobs.batch default/j", "50 delete jobs.batch default/j"]);
  expect(harness.durations).toEqual([49]);
});

test("a live Job with more time than the cached one is not deleted, but looked at again", async () => {
  const harness = await Harness.begin();
  harness.transform = (job) => ({ ...job, spec: { ...mutableCopy(job).spec!, ttlSecondsAfterFinished: 10 } });
  await harness.start();
  await harness.createJob(1000);
  await harness.finishJob();
  await harness.advance(999);
  expect(harness.sent()).toEqual(["10 get jobs.batch default/j"]);
  await harness.advance(1);
  expect(harness.sent()).toEqual(["1000 get jobs.batch default/j", "1000 delete jobs.batch default/j"]);
});

test("a new Job of the same name is kept", async () => {
  const harness = await Harness.begin();
  await harness.start();
  await harness.createJob(10);
  await harness.finishJob();
  harness.before("get", async () => {
    await harness.removeJob();
    await harness.createJob(10);
  });
  await harness.advance(3600);
  expect(harness.sent()).toEqual(["10 get jobs.batch default/j"]);
});

test("a Job that takes the other's place at the last moment is not deleted in its stead", async () => {
  const harness = await Harness.begin();
  await harness.start();
  await harness.createJob(10);
  await harness.finishJob();
  harness.before("delete", async () => {
    await harness.removeJob();
    await harness.createJob(10);
  });
  await harness.advance(60);
  expect(harness.sent()).toEqual(["10 get jobs.batch default/j", "10 delete jobs.batch default/j"]);
  expect((await harness.getJob())?.metadata.deletionTimestamp).toBeUndefined();
  await harness.finishJob();
  await harness.advance(60);
  expect(harness.sent()).toEqual(["70 get jobs.batch default/j", "70 delete jobs.batch default/j"]);
});

test("a Job that finished in the future is deleted when that has come and its time is over", async () => {
  const harness = await Harness.begin();
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
  expect(harness.sent()).toEqual(["70 get jobs.batch default/j", "70 delete jobs.batch default/j"]);
  expect(new Set(harness.warnings)).toEqual(
    new Set([
      "Warning: Found Job finished in the future. This is likely due to time skew in the cluster. Job cleanup will be deferred.",
    ]),
  );
});

test("a Job that does not say when it finished is tried again with back-off", async () => {
  const harness = await Harness.begin();
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
});

test("a Job that is being deleted is skipped", async () => {
  const harness = await Harness.begin();
  await harness.createJob(0);
  await harness.jobs.delete("j", { namespace: "default", propagationPolicy: "Foreground" });
  await harness.finishJob();
  await harness.start();
  await harness.advance(3600);
  expect(harness.sent()).toEqual([]);
});

import { expect, test } from "vitest";

import { type CronJob, type Job, deepFreeze, newControllerRef } from "@kubewright/api";

import { predictCronJobSync } from "./predict-sync.js";
import { Schedules } from "./schedules.js";

type Spec = Partial<NonNullable<CronJob["spec"]>>;

const context = (now: string) => ({ nowMs: Date.parse(`2026-03-02T${now}Z`), schedules: new Schedules() });

function cronJob(spec: Spec = {}, status: CronJob["status"] = {}): CronJob {
  return deepFreeze<CronJob>({
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "n", namespace: "ns", uid: "u", creationTimestamp: "2026-03-02T08:59:30Z" },
    spec: {
      schedule: "0 * * * *",
      jobTemplate: { spec: { template: { spec: { containers: [], restartPolicy: "Never" } } } },
      ...spec,
    },
    status,
  });
}

function job(name: string, { ended, owner = "u" }: { ended?: "Complete" | "Failed"; owner?: string } = {}): Job {
  return deepFreeze<Job>({
    metadata: {
      name,
      namespace: "ns",
      uid: `uid-${name}`,
      ownerReferences: [
        newControllerRef({ metadata: { name: "n", uid: owner } }, { apiVersion: "batch/v1", kind: "CronJob" }),
      ],
    },
    status: ended === undefined ? {} : { conditions: [{ type: ended, status: "True" }] },
  });
}

const ref = (name: string) => ({ kind: "Job", apiVersion: "batch/v1", namespace: "ns", name, uid: `uid-${name}` });

test("a finished Job no longer holds back Forbid, a Job that is gone neither", () => {
  const forbid = cronJob({ concurrencyPolicy: "Forbid" }, { active: [ref("done"), ref("gone")] });
  const predicted = predictCronJobSync(forbid, [job("done", { ended: "Complete" })], context("10:00:01"));
  expect(predicted.completed.map(({ metadata }) => metadata.name)).toEqual(["done"]);
  expect(predicted.missing).toEqual(["gone"]);
  expect(predicted.cronJob.status?.active).toBeUndefined();
  expect(predicted.plan.start?.job.metadata.name).toBe("n-29540760");
  expect(predicted.existing).toBeUndefined();
  expect(forbid.status?.active).toHaveLength(2);
});

test("a listed Job is gone when another has its name", () => {
  const forbid = cronJob({ concurrencyPolicy: "Forbid" }, { active: [{ ...ref("a"), uid: "gone" }] });
  const predicted = predictCronJobSync(forbid, [job("a", { owner: "other", ended: "Complete" })], context("10:00:01"));
  expect(predicted.missing).toEqual(["a"]);
  expect(predicted.plan.decision.outcome).toBe("ran");
});

test("an unfinished Job that is not listed is unexpected and blocks nothing; one that is listed does", () => {
  const spec = { concurrencyPolicy: "Forbid" } as const;
  const unlisted = predictCronJobSync(cronJob(spec), [job("hand")], context("10:00:01"));
  expect(unlisted.unexpected.map(({ metadata }) => metadata.name)).toEqual(["hand"]);
  expect(unlisted.plan.decision.outcome).toBe("ran");
  const listed = predictCronJobSync(cronJob(spec, { active: [ref("hand")] }), [job("hand")], context("10:00:01"));
  expect(listed.plan.decision).toMatchObject({ outcome: "skipped", reason: "stillActive", activeJobs: ["hand"] });
});

test.each([
  ["the CronJob's own, not listed", "u", undefined, "adopted", "due"],
  ["somebody else's", "other", undefined, "alreadyExists", "ownedByAnother"],
] as const)("a start whose name is taken by a Job that is %s", (_title, owner, ended, outcome, reason) => {
  const taken = job("n-29540760", { owner, ...(ended === undefined ? {} : { ended }) });
  const predicted = predictCronJobSync(cronJob(), [taken], context("10:00:01"));
  expect(predicted.existing).toMatchObject({ outcome, reason });
});

test("Jobs over the history limits are deleted first, and so no longer listed as active", () => {
  const limits = { successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 1 };
  const predicted = predictCronJobSync(
    cronJob(limits, { active: [ref("a")] }),
    [job("a", { ended: "Complete" }), job("b", { ended: "Failed" })],
    context("09:30:00"),
  );
  expect(predicted.deletes.map(({ metadata }) => metadata.name)).toEqual(["a"]);
  expect(predicted.completed).toEqual([]);
  expect(predicted.cronJob.status?.active).toBeUndefined();
});

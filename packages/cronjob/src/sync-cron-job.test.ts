import { expect, test } from "vitest";

import { type CronJob, type DeepReadonly, type Job, cronJobs, getControllerOf, jobs } from "@kubewright/api";

import { Harness, NAMESPACE, at } from "../test/harness.js";
import type { CronJobDecision } from "./decision.js";
import { Schedules } from "./schedules.js";
import { type SyncMemory, syncCronJob } from "./sync-cron-job.js";

/** Syncs CronJobs against a real API server, with cached objects that the test chooses. */
class SyncHarness extends Harness {
  readonly decisions: CronJobDecision[] = [];
  readonly skews: number[] = [];
  readonly memory: SyncMemory = {};

  /** @param cached, cachedJobs - Default: the server's objects. */
  async sync(cached?: DeepReadonly<CronJob>, cachedJobs?: readonly DeepReadonly<Job>[]): Promise<number | undefined> {
    const cronJob = cached ?? (await this.getCronJob());
    const items = cachedJobs ?? (await this.jobs.list({ namespace: NAMESPACE })).items;
    const children = items.filter((job) => getControllerOf(job)?.name === cronJob.metadata.name);
    const deps = {
      cronJobs: this.client.resource(cronJobs),
      jobs: this.client.resource(jobs),
      events: this.sink,
      now: () => this.clock.now(),
      schedules: new Schedules(),
      observeCreationSkew: (seconds: number) => void this.skews.push(seconds),
      onDecision: (decision: CronJobDecision) => void this.decisions.push(decision),
    };
    return syncCronJob(cronJob, children, this.memory, deps);
  }

  get decision(): CronJobDecision | undefined {
    return this.decisions.at(-1);
  }

  async advanceTo(time: string): Promise<void> {
    await this.clock.advance(at(time) - this.clock.now());
  }

  async activeNames(): Promise<unknown[]> {
    return ((await this.getCronJob()).status?.active ?? []).map(({ name }) => name);
  }
}

const serverError = { code: 500, reason: "InternalError", message: "no" } as const;
const TEN = "n-29540760";

test("25: a due slot is one POST and then one status PUT, with a reference to the Job as created", async () => {
  const harness = new SyncHarness();
  await harness.createCronJob();
  await harness.advanceTo("10:00:00.100");
  expect(await harness.sync()).toBe(3_600_000);
  expect(harness.writes).toEqual(["POST jobs", "PUT cronjobs/n/status"]);
  expect(harness.events).toEqual([`Normal SuccessfulCreate Created job ${TEN}`]);
  const job = await harness.jobs.get(TEN, { namespace: NAMESPACE });
  const cronJob = await harness.getCronJob();
  expect(job.metadata.ownerReferences).toEqual([
    {
      apiVersion: "batch/v1",
      kind: "CronJob",
      name: "n",
      uid: cronJob.metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    },
  ]);
  const { uid, resourceVersion } = job.metadata;
  expect(cronJob.status).toEqual({
    active: [{ apiVersion: "batch/v1", kind: "Job", name: TEN, namespace: NAMESPACE, uid, resourceVersion }],
    lastScheduleTime: "2026-03-02T10:00:00Z",
  });
  expect(harness.skews).toEqual([0]);
  expect(harness.decision).toMatchObject({ key: "default/n", outcome: "ran", slotMs: at("10:00:00"), jobName: TEN });
  expect(harness.decision?.atMs).toBe(at("10:00:00.100"));
});

test("28: Forbid waits for the active Job, and then starts the most recent slot late", async () => {
  const harness = new SyncHarness();
  await harness.createCronJob({ concurrencyPolicy: "Forbid" });
  await harness.advanceTo("10:00:00");
  await harness.sync();
  await harness.advanceTo("11:00:00.100");
  expect(await harness.sync()).toBe(3_600_000);
  expect(harness.decision).toMatchObject({
    outcome: "skipped",
    reason: "stillActive",
    activeJobs: [TEN],
    slotMs: at("11:00:00"),
  });
  expect((await harness.getCronJob()).status?.lastScheduleTime).toBe("2026-03-02T10:00:00Z");
  await harness.advanceTo("11:20:00");
  await harness.finishJob(TEN);
  await harness.sync();
  expect(harness.events.slice(1)).toEqual([
    "Normal JobAlreadyActive Not starting job because prior execution is running and concurrency policy is Forbid",
    `Normal SawCompletedJob Saw completed job: ${TEN}, condition: Complete`,
    "Normal SuccessfulCreate Created job n-29540820",
  ]);
  expect(await harness.activeNames()).toEqual(["n-29540820"]);
});

test("28: with a deadline shorter than the delay nothing is started", async () => {
  const harness = new SyncHarness();
  await harness.createCronJob({ concurrencyPolicy: "Forbid", startingDeadlineSeconds: 600 });
  await harness.advanceTo("10:00:00");
  await harness.sync();
  await harness.advanceTo("11:20:00");
  await harness.finishJob(TEN);
  await harness.sync();
  expect(await harness.activeNames()).toEqual([]);
  expect(harness.decision).toMatchObject({ outcome: "skipped", reason: "deadlinePassed", slotMs: at("11:00:00") });
});

test("29: Replace deletes the active Job before it creates the new one", async () => {
  const harness = new SyncHarness();
  await harness.createCronJob({ concurrencyPolicy: "Replace" });
  await harness.advanceTo("10:00:00");
  await harness.sync();
  await harness.advanceTo("11:00:00");
  harness.writes.length = 0;
  await harness.sync();
  expect(harness.writes).toEqual([`DELETE jobs/${TEN}`, "POST jobs", "PUT cronjobs/n/status"]);
  expect(harness.events.slice(1)).toEqual([
    `Normal SuccessfulDelete Deleted job ${TEN}`,
    "Normal SuccessfulCreate Created job n-29540820",
  ]);
  expect(await harness.activeNames()).toEqual(["n-29540820"]);
  expect(harness.decision).toMatchObject({ outcome: "replaced", activeJobs: [TEN] });
});

test("Replace leaves a Job alone that has only the name of the one that it was to replace, which is gone", async () => {
  const harness = new SyncHarness();
  await harness.createCronJob({ concurrencyPolicy: "Replace" });
  await harness.advanceTo("10:00:00");
  await harness.sync();
  await harness.jobs.delete(TEN, { namespace: NAMESPACE, propagationPolicy: "Background" });
  await harness.createJob(TEN, undefined);
  await harness.advanceTo("11:00:00");
  await harness.sync();
  expect(await harness.jobNames()).toEqual([TEN, "n-29540820"]);
  expect(await harness.activeNames()).toEqual(["n-29540820"]);
  expect(harness.events.slice(1)).toEqual([
    `Normal MissingJob Active job went missing: ${TEN}`,
    "Normal SuccessfulCreate Created job n-29540820",
  ]);
});

test("a finished Job over the limit goes by UID: what has taken its name stays", async () => {
  const harness = new SyncHarness();
  const cronJob = await harness.createCronJob({ successfulJobsHistoryLimit: 0 });
  await harness.createJob("old", cronJob);
  const cached = await harness.finishJob("old");
  await harness.jobs.delete("old", { namespace: NAMESPACE, propagationPolicy: "Background" });
  await harness.createJob("old", undefined);
  await harness.sync(cronJob, [cached]);
  expect(await harness.jobNames()).toEqual(["old"]);
  expect(harness.events[0]).toContain("Warning FailedDelete Deleted job: Operation cannot be fulfilled");
});

test("30: Replace gives up when the active Job cannot be read", async () => {
  const harness = new SyncHarness();
  await harness.createCronJob({ concurrencyPolicy: "Replace" });
  await harness.advanceTo("10:00:00");
  await harness.sync();
  await harness.advanceTo("11:00:00");
  harness.writes.length = 0;
  harness.refuse(/^GET jobs\//, serverError);
  await expect(harness.sync()).rejects.toMatchObject({ message: "no" });
  expect(harness.events.at(-1)).toBe("Warning FailedGet Get job: no");
  expect(harness.writes).toEqual([]);
  expect(harness.decision).toMatchObject({ outcome: "failed", reason: "getFailed", slotMs: at("11:00:00") });
});

test("31: what Replace did before it failed is written", async () => {
  const harness = new SyncHarness();
  const cronJob = await harness.createCronJob({ concurrencyPolicy: "Replace" });
  const [a, b] = [await harness.createJob("a", cronJob), await harness.createJob("b", cronJob)];
  const active = [a, b].map(({ metadata: { name, namespace, uid } }) => ({
    name: name!,
    namespace: namespace!,
    uid: uid!,
  }));
  await harness.setStatus(cronJob, { active });
  await harness.advanceTo("10:00:00");
  harness.refuse(/^DELETE jobs\/b$/, serverError);
  await expect(harness.sync()).rejects.toThrow("could not replace job default/b");
  expect(harness.events).toEqual(["Normal SuccessfulDelete Deleted job a", "Warning FailedDelete Deleted job: no"]);
  expect(harness.writes).toEqual(["DELETE jobs/a", "DELETE jobs/b", "PUT cronjobs/n/status"]);
  expect(await harness.activeNames()).toEqual(["b"]);
  expect(harness.decision).toMatchObject({ outcome: "failed", reason: "deleteFailed" });
});

test("32: a suspended CronJob still keeps its status", async () => {
  const harness = new SyncHarness();
  await harness.createCronJob();
  await harness.advanceTo("10:00:00");
  await harness.sync();
  await harness.finishJob(TEN);
  await harness.cronJobs.patch("n", { type: "merge", body: { spec: { suspend: true } } }, { namespace: NAMESPACE });
  await harness.advanceTo("11:00:00");
  harness.writes.length = 0;
  expect(await harness.sync()).toBeUndefined();
  expect(harness.writes).toEqual(["PUT cronjobs/n/status"]);
  expect((await harness.getCronJob()).status).toEqual({
    lastScheduleTime: "2026-03-02T10:00:00Z",
    lastSuccessfulTime: "2026-03-02T10:00:00Z",
  });
});

test("38: a CronJob being deleted is kept up to date, and its history trimmed", async () => {
  const harness = new SyncHarness();
  const cronJob = await harness.createCronJob({ successfulJobsHistoryLimit: 1 });
  const jobs = [await harness.createJob("a", cronJob), await harness.createJob("b", cronJob)];
  await harness.finishJob("a", "Complete", { start: "2026-03-02T08:00:00Z" });
  await harness.finishJob("b", "Complete", { start: "2026-03-02T09:00:00Z" });
  const uid = jobs[1]!.metadata.uid!;
  await harness.setStatus(cronJob, { active: [{ name: "b", namespace: NAMESPACE, uid }] });
  const body = { metadata: { finalizers: ["test/keep"] } };
  await harness.cronJobs.patch("n", { type: "merge", body }, { namespace: NAMESPACE });
  await harness.cronJobs.delete("n", { namespace: NAMESPACE });
  await harness.advanceTo("10:00:00");
  expect(await harness.sync()).toBeUndefined();
  expect(harness.events).toEqual([
    "Normal SuccessfulDelete Deleted job a",
    "Normal SawCompletedJob Saw completed job: b, condition: Complete",
  ]);
  expect(await harness.jobNames()).toEqual(["b"]);
  expect(await harness.activeNames()).toEqual([]);
});

test("39: a Job of the slot that exists and is its own is adopted, without event or metric", async () => {
  const harness = new SyncHarness();
  const stale = await harness.createCronJob();
  await harness.createJob(TEN, stale);
  await harness.advanceTo("10:00:00");
  expect(await harness.sync()).toBe(3_600_100);
  expect(harness.events).toEqual([
    `Warning UnexpectedJob Saw a job that the controller did not create or forgot: ${TEN}`,
  ]);
  expect(harness.skews).toEqual([]);
  expect(await harness.activeNames()).toEqual([TEN]);
  expect(harness.decision).toMatchObject({ outcome: "adopted", jobName: TEN, nextSyncMs: at("11:00:00.100") });
});

test("40: a Job of the slot that is listed already, under whatever name, changes nothing, and the next slot is waited for", async () => {
  const harness = new SyncHarness();
  const cronJob = await harness.createCronJob();
  const { uid } = (await harness.createJob(TEN, cronJob)).metadata;
  await harness.setStatus(cronJob, { active: [{ name: "other", namespace: NAMESPACE, uid: uid! }] });
  await harness.advanceTo("10:00:00");
  expect(await harness.sync()).toBe(3_600_100);
  expect(harness.writes).toEqual(["POST jobs"]);
  expect(harness.events).toEqual([]);
  expect(harness.decision).toMatchObject({
    outcome: "alreadyExists",
    reason: "alreadyListed",
    nextSyncMs: at("11:00:00.100"),
  });
});

test("41: a Job of that name under other control, or none, is left alone, and the next slot is waited for", async () => {
  for (const owner of [undefined, { metadata: { name: "other", uid: "other-uid" } }]) {
    const harness = new SyncHarness();
    await harness.createCronJob();
    await harness.createJob(TEN, owner);
    await harness.advanceTo("10:00:00");
    expect(await harness.sync()).toBe(3_600_100);
    // The slot is lost when the next one is due.
    expect(harness.memory.reported).toEqual({ upToMs: at("10:00:00") - 1, stoppedBy: "ownedByAnother" });
    expect(harness.events).toEqual([]);
    expect(harness.writes).toEqual(["POST jobs"]);
    expect(harness.decision).toMatchObject({
      outcome: "alreadyExists",
      reason: "ownedByAnother",
      nextSyncMs: at("11:00:00.100"),
    });
  }
});

test("42: a Job that exists and cannot be read is an error", async () => {
  const harness = new SyncHarness();
  await harness.createCronJob();
  await harness.createJob(TEN, undefined);
  await harness.advanceTo("10:00:00");
  harness.refuse(/^GET jobs\//, serverError);
  await expect(harness.sync()).rejects.toMatchObject({ message: "no" });
  expect(harness.decision).toMatchObject({ outcome: "failed" });
});

test("43: nothing is said when the namespace is being emptied", async () => {
  const harness = new SyncHarness();
  await harness.createCronJob();
  await harness.advanceTo("10:00:00");
  const details = { causes: [{ reason: "NamespaceTerminating" }] };
  harness.refuse(/^POST jobs$/, { code: 403, reason: "Forbidden", message: "no", details });
  await expect(harness.sync()).rejects.toMatchObject({ message: "no" });
  expect(harness.events).toEqual([]);
  expect(harness.decision).toMatchObject({ outcome: "failed", reason: "namespaceTerminating" });
});

test("44: old Jobs are deleted before a creation that a quota refuses", async () => {
  const harness = new SyncHarness();
  const cronJob = await harness.createCronJob({ failedJobsHistoryLimit: 0 });
  await harness.createJob("old", cronJob);
  await harness.finishJob("old", "Failed");
  await harness.advanceTo("10:00:00");
  harness.refuse(/^POST jobs$/, { code: 403, reason: "Forbidden", message: "exceeded quota" });
  await expect(harness.sync()).rejects.toMatchObject({ message: "exceeded quota" });
  expect(harness.writes).toEqual(["DELETE jobs/old", "POST jobs", "PUT cronjobs/n/status"]);
  expect(harness.events).toEqual([
    "Normal SuccessfulDelete Deleted job old",
    "Warning FailedCreate Error creating job: exceeded quota",
  ]);
});

test("a missed slot is reported once, also when the sync that reports it fails", async () => {
  const harness = new SyncHarness();
  await harness.createCronJob();
  await harness.advanceTo("12:00:00");
  harness.refuse(/^POST jobs$/, serverError);
  await expect(harness.sync()).rejects.toMatchObject({ message: "no" });
  expect(harness.decision).toMatchObject({ outcome: "failed", missed: [{ reason: "superseded", count: 2 }] });
  await harness.sync();
  expect(harness.decision).toMatchObject({ outcome: "ran", slotMs: at("12:00:00"), missed: [] });
});

test("45: a listed Job that the cache lacks is dropped only when the server lacks it too", async () => {
  const harness = new SyncHarness();
  const cronJob = await harness.createCronJob();
  const { uid } = (await harness.createJob("kept", undefined)).metadata;
  const active = [
    { name: "gone", namespace: NAMESPACE, uid: "uid-of-gone" },
    { name: "kept", namespace: NAMESPACE, uid: uid! },
  ];
  await harness.setStatus(cronJob, { active });
  harness.refuse(/^GET jobs\/gone$/, serverError);
  await expect(harness.sync()).rejects.toMatchObject({ message: "no" });
  expect(harness.writes).toEqual([]);
  await harness.sync();
  expect(harness.events).toEqual(["Normal MissingJob Active job went missing: gone"]);
  expect(await harness.activeNames()).toEqual(["kept"]);
});

test("46: a Job that only the live CronJob lists is not unexpected, and the sync continues with the live object", async () => {
  const harness = new SyncHarness();
  const stale = await harness.createCronJob();
  await harness.advanceTo("10:00:00");
  await harness.sync();
  harness.events.length = 0;
  await harness.advanceTo("10:00:01");
  await harness.sync(stale);
  expect(harness.events).toEqual([]);
  expect(harness.decision).toMatchObject({ outcome: "notDue" });
  await harness.advanceTo("11:00:00");
  await harness.sync(stale);
  expect(harness.events).toEqual(["Normal SuccessfulCreate Created job n-29540820"]);
  expect(await harness.activeNames()).toEqual([TEN, "n-29540820"]);
});

test("47: an unlisted Job is reported, not adopted, and does not block", async () => {
  const harness = new SyncHarness();
  const cronJob = await harness.createCronJob({ concurrencyPolicy: "Forbid" });
  await harness.createJob("manual", cronJob);
  await harness.advanceTo("10:00:00");
  await harness.sync();
  expect(harness.events).toEqual([
    "Warning UnexpectedJob Saw a job that the controller did not create or forgot: manual",
    `Normal SuccessfulCreate Created job ${TEN}`,
  ]);
  expect(await harness.activeNames()).toEqual([TEN]);
});

test("an unlisted Job whose CronJob cannot be read is an error", async () => {
  const harness = new SyncHarness();
  await harness.createJob("manual", await harness.createCronJob());
  harness.refuse(/^GET cronjobs\/n$/, serverError);
  await expect(harness.sync()).rejects.toMatchObject({ message: "no" });
});

test("48: a status write that is refused loses the timer", async () => {
  const harness = new SyncHarness();
  const stale = await harness.createCronJob();
  await harness.cronJobs.patch(
    "n",
    { type: "merge", body: { metadata: { labels: { a: "b" } } } },
    { namespace: NAMESPACE },
  );
  await harness.advanceTo("10:00:00");
  await expect(harness.sync(stale)).rejects.toMatchObject({ status: { reason: "Conflict" } });
  expect(await harness.jobNames()).toEqual([TEN]);
  await harness.sync();
  expect(harness.decision).toMatchObject({ outcome: "adopted" });
  expect(await harness.activeNames()).toEqual([TEN]);
});

test("49: Jobs of another owner of the same name count for the history", async () => {
  const harness = new SyncHarness();
  await harness.createCronJob({ successfulJobsHistoryLimit: 0 });
  await harness.createJob("foreign", { metadata: { name: "n", uid: "another" } });
  await harness.finishJob("foreign");
  await harness.sync();
  expect(harness.events).toEqual(["Normal SuccessfulDelete Deleted job foreign"]);
});

test("50: the last success moves forward only, and only for successes", async () => {
  const harness = new SyncHarness();
  const cronJob = await harness.createCronJob({ successfulJobsHistoryLimit: 9, failedJobsHistoryLimit: 9 });
  const lastSuccess = async () => (await harness.getCronJob()).status?.lastSuccessfulTime;
  await harness.advanceTo("09:59:50");
  const finish = async (name: string, type: "Complete" | "Failed", end: string) => {
    await harness.createJob(name, cronJob);
    await harness.finishJob(name, type, { start: "2026-03-02T09:00:00Z", end: `2026-03-02T${end}Z` });
    await harness.sync();
  };
  await finish("failed", "Failed", "09:57:00");
  expect(await lastSuccess()).toBeUndefined();
  await finish("first", "Complete", "09:55:00");
  expect(await lastSuccess()).toBe("2026-03-02T09:55:00Z");
  await finish("earlier", "Complete", "09:53:00");
  expect(await lastSuccess()).toBe("2026-03-02T09:55:00Z");
  await finish("later", "Complete", "09:56:00");
  expect(await lastSuccess()).toBe("2026-03-02T09:56:00Z");
});

test("52: a success over a limit of zero is deleted without being reported as completed, and still counts", async () => {
  const harness = new SyncHarness();
  await harness.createCronJob({ successfulJobsHistoryLimit: 0 });
  await harness.advanceTo("10:00:00");
  await harness.sync();
  await harness.finishJob(TEN);
  harness.events.length = 0;
  await harness.sync();
  expect(harness.events).toEqual([`Normal SuccessfulDelete Deleted job ${TEN}`]);
  expect((await harness.getCronJob()).status?.lastSuccessfulTime).toBe("2026-03-02T10:00:00Z");
  expect(await harness.activeNames()).toEqual([]);
});

test("a slot whose Job has ended and gone is not started again where the cache is behind the last status", async () => {
  const harness = new SyncHarness();
  const stale = await harness.createCronJob({ successfulJobsHistoryLimit: 0 });
  await harness.advanceTo("10:00:00");
  await harness.sync(stale);
  await harness.finishJob(TEN);
  expect(await harness.sync(stale)).toBe(3_600_100);
  expect(await harness.jobNames()).toEqual([]);
  expect((await harness.getCronJob()).status?.lastScheduleTime).toBe("2026-03-02T10:00:00Z");
  // A change by another client is used as soon as the cache shows it.
  harness.memory.reported = undefined;
  const rewound = await harness.setStatus(await harness.getCronJob(), {});
  await harness.sync(rewound);
  expect(await harness.jobNames()).toEqual([TEN]);
});

test("a CronJob that is being deleted, which its cache does not show, starts its slot no second time", async () => {
  const harness = new SyncHarness();
  const stale = await harness.createCronJob();
  const body = { metadata: { finalizers: ["test/keep"] } };
  await harness.cronJobs.patch("n", { type: "merge", body }, { namespace: NAMESPACE });
  await harness.cronJobs.delete("n", { namespace: NAMESPACE });
  await harness.advanceTo("10:00:00");
  await expect(harness.sync(stale)).rejects.toThrow("modified");
  await harness.jobs.delete(TEN, { namespace: NAMESPACE });
  expect(await harness.sync(stale)).toBeUndefined();
  expect(await harness.jobNames()).toEqual([]);
  // Its status is updated as soon as the cache shows the deletion.
  await harness.sync();
  expect(harness.decision).toMatchObject({ reason: "beingDeleted" });
});

test("56: a Job of the history that cannot be deleted holds up nothing", async () => {
  const harness = new SyncHarness();
  const cronJob = await harness.createCronJob({ successfulJobsHistoryLimit: 0 });
  for (const name of ["a", "b"]) {
    await harness.createJob(name, cronJob);
    await harness.finishJob(name);
  }
  harness.refuse(/^DELETE jobs\/a$/, { code: 404, reason: "NotFound", message: "gone" });
  expect(await harness.sync()).toBe(30_100);
  expect(harness.events).toEqual(["Warning FailedDelete Deleted job: gone", "Normal SuccessfulDelete Deleted job b"]);
});

test("66: two slots of one minute share a Job", async () => {
  const harness = new SyncHarness("2026-03-02T09:59:00Z");
  await harness.createCronJob({ schedule: "@every 30s" });
  await harness.advanceTo("10:00:00.100");
  await harness.sync();
  await harness.advanceTo("10:00:30.100");
  await harness.sync();
  expect(harness.decision).toMatchObject({ outcome: "alreadyProcessed", slotMs: at("10:00:30") });
  await harness.finishJob(TEN);
  await harness.sync();
  expect(harness.decision).toMatchObject({ outcome: "adopted", slotMs: at("10:00:30") });
  expect((await harness.getCronJob()).status?.lastScheduleTime).toBe("2026-03-02T10:00:30Z");
  await harness.sync();
  const saw = `Normal SawCompletedJob Saw completed job: ${TEN}, condition: Complete`;
  expect(harness.events).toEqual([`Normal SuccessfulCreate Created job ${TEN}`, saw, saw]);
  expect(await harness.activeNames()).toEqual([]);
});

test.each([
  ["deleted", 404],
  ["deleted and made again", 409],
])("a CronJob that was %s starts a slot at most once, as long as the cache shows it", async (how, code) => {
  const harness = new SyncHarness();
  await harness.createCronJob();
  const cached = await harness.getCronJob();
  await harness.client.resource(cronJobs).delete("n", { namespace: NAMESPACE });
  if (how !== "deleted") await harness.createCronJob();
  await harness.advanceTo("10:00:00.100");
  await expect(harness.sync(cached, [])).rejects.toMatchObject({ status: { code } });
  // Deletes the Job as the garbage collector does.
  await harness.jobs.delete(TEN, { namespace: NAMESPACE, propagationPolicy: "Background" });
  expect(await harness.sync(cached, [])).toBeUndefined();
  expect((await harness.jobs.list({ namespace: NAMESPACE })).items).toEqual([]);
});

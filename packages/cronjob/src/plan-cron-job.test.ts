import { expect, test } from "vitest";

import { type CronJob, deepFreeze } from "@kubewright/api";

import { type CronJobPlan, planCronJob } from "./plan-cron-job.js";
import { Schedules } from "./schedules.js";

type Spec = Partial<NonNullable<CronJob["spec"]>>;

function cronJob(spec: Spec, status: CronJob["status"] = {}, metadata: CronJob["metadata"] = {}): CronJob {
  return deepFreeze({
    metadata: { name: "n", namespace: "ns", uid: "u", creationTimestamp: "2026-03-02T09:59:30Z", ...metadata },
    spec: {
      schedule: "0 * * * *",
      jobTemplate: { spec: { template: { spec: { containers: [], restartPolicy: "Never" } } } },
      ...spec,
    },
    status,
  });
}

const schedules = new Schedules();

function plan(cronJob: CronJob, now: string, reported?: CronJobPlan["reported"]): CronJobPlan {
  return planCronJob(cronJob, { nowMs: Date.parse(`2026-03-02T${now}Z`), schedules, reported });
}

const at = (time: string): number => Date.parse(`2026-03-02T${time}Z`);
const active = (name: string) => [{ kind: "Job", apiVersion: "batch/v1", namespace: "ns", name, uid: `uid-${name}` }];

test("25: a due slot becomes a Job that is named by its minute and controlled by the CronJob", () => {
  const { start, decision, events, requeueAfterMs } = plan(cronJob({}), "10:00:00.1");
  expect(start?.job).toEqual({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name: "n-29540760",
      annotations: { "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-03-02T10:00:00Z" },
      creationTimestamp: "2026-03-02T10:00:00Z",
      ownerReferences: [
        { apiVersion: "batch/v1", kind: "CronJob", name: "n", uid: "u", controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: { template: { spec: { containers: [], restartPolicy: "Never" } } },
  });
  expect(start?.replace).toEqual([]);
  expect(decision).toMatchObject({ outcome: "ran", slotMs: at("10:00:00"), jobName: "n-29540760", missed: [] });
  expect(decision.nextSyncMs).toBe(at("11:00:00.1"));
  expect(events).toEqual([]);
  expect(requeueAfterMs).toBe(3_600_000);
});

test("21, 22: the timer of a run that a deadline has moved goes by that run, not by the one before it", () => {
  const moved = cronJob(
    { schedule: "@every 1h", startingDeadlineSeconds: 5400 },
    { lastScheduleTime: "2026-03-02T10:59:30Z" },
  );
  const { decision, requeueAfterMs } = plan(moved, "16:00:00");
  expect(decision).toMatchObject({ outcome: "ran", slotMs: at("15:30:00"), nextSyncMs: at("16:30:00.1") });
  expect(requeueAfterMs).toBe(1_800_100);
});

test("26: slots and the annotation go by spec.timeZone", () => {
  const annotation = (spec: Spec, now = "10:00:00.1"): unknown =>
    plan(cronJob(spec), now).start?.job.metadata.annotations?.["batch.kubernetes.io/cronjob-scheduled-timestamp"];
  expect(annotation({ schedule: "0 11 * * *", timeZone: "Europe/Rome" })).toBe("2026-03-02T11:00:00+01:00");
  expect(annotation({ schedule: "0 10 * * *", timeZone: "Europe/London" })).toBe("2026-03-02T10:00:00Z");
  expect(annotation({ schedule: "30 15 * * *", timeZone: "Asia/Kolkata" })).toBe("2026-03-02T15:30:00+05:30");
  expect(annotation({ schedule: "30 6 * * *", timeZone: "America/St_Johns" })).toBe("2026-03-02T06:30:00-03:30");
  expect(annotation({ timeZone: "UTC" })).toBe("2026-03-02T10:00:00Z");
});

test("27: the template's labels and annotations are copied, all but the scheduled timestamp", () => {
  const jobTemplate = {
    metadata: {
      labels: { app: "x" },
      annotations: { note: "y", "batch.kubernetes.io/cronjob-scheduled-timestamp": "never" },
      name: "ignored",
      finalizers: ["ignored/too"],
    },
    spec: { template: {} },
  };
  expect(plan(cronJob({ jobTemplate }, {}, { labels: { own: "no" } }), "10:00:00").start?.job.metadata).toMatchObject({
    name: "n-29540760",
    labels: { app: "x" },
    annotations: { note: "y", "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-03-02T10:00:00Z" },
  });
  const { metadata } = plan(cronJob({ jobTemplate }), "10:00:00").start!.job;
  expect(Object.keys(metadata).sort()).toEqual([
    "annotations",
    "creationTimestamp",
    "labels",
    "name",
    "ownerReferences",
  ]);
});

test.each<[number, "10:00:00.1" | undefined, string]>([
  [9_223_372_036, "10:00:00.1", "292 years: the longest that is one"],
  [9_223_372_037, undefined, "as if the window began in 292 years"],
  [20_000_000_000, "10:00:00.1", "49 years"],
  [30_000_000_000, undefined, "as if the window began in 219 years"],
  [2 ** 62, undefined, "as 0 s"],
])("a deadline of %d s overflows upstream's nanoseconds: %s, %s", (startingDeadlineSeconds, ran) => {
  const { start, events, requeueAfterMs } = plan(cronJob({ startingDeadlineSeconds }), "10:00:00.1");
  expect(start?.slotMs).toBe(ran && at("10:00:00"));
  expect(events).toEqual([]);
  expect(requeueAfterMs).toBe(3_600_000);
});

test("a deadline whose nanoseconds have no positive counterpart drops the run, and says so", () => {
  const { start, decision, events } = plan(cronJob({ startingDeadlineSeconds: 2 ** 54 }), "10:00:00.1");
  expect(start).toBeUndefined();
  expect(decision).toMatchObject({ outcome: "skipped", reason: "deadlinePassed", slotMs: at("10:00:00") });
  const message = "Missed scheduled time to start a job: Mon, 02 Mar 2026 10:00:00 +0000";
  expect(events).toEqual([{ type: "Warning", reason: "MissSchedule", message }]);
});

test("28: Forbid with an active Job skips the slot, and names the Job in the way", () => {
  const blocked = cronJob({ concurrencyPolicy: "Forbid" }, { active: active("n-1") });
  const { start, decision, events, requeueAfterMs } = plan(blocked, "11:00:00.1");
  expect(start).toBeUndefined();
  expect(events).toEqual([
    {
      type: "Normal",
      reason: "JobAlreadyActive",
      message: "Not starting job because prior execution is running and concurrency policy is Forbid",
    },
  ]);
  expect(decision).toMatchObject({
    outcome: "skipped",
    reason: "stillActive",
    slotMs: at("11:00:00"),
    activeJobs: ["n-1"],
  });
  expect(requeueAfterMs).toBe(3_600_000);
  const free = cronJob({ concurrencyPolicy: "Forbid" });
  expect(plan(free, "11:20:00").decision).toMatchObject({ outcome: "ran", slotMs: at("11:00:00") });
});

test("29: Replace deletes what is active first, and Allow leaves it alone", () => {
  const replaced = plan(cronJob({ concurrencyPolicy: "Replace" }, { active: active("n-1") }), "10:00:00");
  expect(replaced.start?.replace.map(({ name }) => name)).toEqual(["n-1"]);
  expect(replaced.decision).toMatchObject({ outcome: "replaced", activeJobs: ["n-1"] });
  const allowed = plan(cronJob({ concurrencyPolicy: "Allow" }, { active: active("n-1") }), "10:00:00");
  expect(allowed.start?.replace).toEqual([]);
  expect(allowed.decision.outcome).toBe("ran");
});

test("33: a CronJob that is resumed starts the most recent slot only, and reports the missed ones", () => {
  const suspended = plan(cronJob({ suspend: true }), "10:30:00");
  expect(suspended.decision).toMatchObject({ outcome: "skipped", reason: "suspended", missed: [] });
  expect(suspended.requeueAfterMs).toBeUndefined();
  const resumed = plan(cronJob({ suspend: false }), "12:30:00", suspended.reported);
  expect(resumed.decision).toMatchObject({ outcome: "ran", slotMs: at("12:00:00") });
  expect(resumed.decision.missed).toEqual([
    { reason: "suspended", count: 2, exact: true, slotsMs: [at("10:00:00"), at("11:00:00")] },
  ]);
});

test("34, 35: an unknown time zone is found before suspension, and stops the CronJob", () => {
  const message = 'invalid timeZone: "bad timezone": unknown time zone bad timezone';
  const unknown = plan(cronJob({ suspend: true, timeZone: "bad timezone" }), "10:00:00");
  expect(unknown.events).toEqual([{ type: "Warning", reason: "UnknownTimeZone", message }]);
  expect(unknown.decision).toMatchObject({ outcome: "stopped", reason: "unknownTimeZone", message });
  expect(unknown.requeueAfterMs).toBeUndefined();
});

test("36: an unparseable schedule stops the CronJob", () => {
  const { events, requeueAfterMs } = plan(cronJob({ schedule: "obvious error schedule" }), "10:00:00");
  const message =
    'unparseable schedule: "obvious error schedule" : expected exactly 5 fields, found 3: [obvious error schedule]';
  expect(events).toEqual([{ type: "Warning", reason: "UnparseableSchedule", message }]);
  expect(requeueAfterMs).toBeUndefined();
});

test("37: a zone in the schedule wins over spec.timeZone, but not in the annotation", () => {
  const { start, events } = plan(cronJob({ schedule: "TZ=UTC 0 * * * *", timeZone: "America/New_York" }), "10:00:00");
  expect(events).toEqual([
    {
      type: "Warning",
      reason: "UnsupportedSchedule",
      message:
        'CRON_TZ or TZ used in schedule "TZ=UTC 0 * * * *" is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
    },
  ]);
  expect(start?.job.metadata.annotations).toEqual({
    "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-03-02T05:00:00-05:00",
  });
});

test("38: a CronJob being deleted starts nothing, and asks for no timer", () => {
  const deleting = plan(cronJob({}, {}, { deletionTimestamp: "2026-03-02T09:59:59Z" }), "10:00:00");
  expect(deleting.decision).toMatchObject({ outcome: "stopped", reason: "beingDeleted" });
  expect([deleting.start, deleting.requeueAfterMs]).toEqual([undefined, undefined]);
});

test("a schedule that never fires is reported once per sync and sets no timer", () => {
  const { events, requeueAfterMs } = plan(cronJob({ schedule: "59 23 31 2 *" }), "10:00:00");
  const message = "invalid schedule: 59 23 31 2 * : time difference between two schedules is less than 1 second";
  expect(events).toEqual([{ type: "Warning", reason: "InvalidSchedule", message }]);
  expect(requeueAfterMs).toBeUndefined();
});

test("too many missed slots are warned of when one of them is started, and only then", () => {
  const minutely = cronJob({ schedule: "* * * * *" }, { lastScheduleTime: "2026-03-02T10:00:00Z" });
  const warned = plan(minutely, "11:41:00");
  expect(warned.events.map(({ reason }) => reason)).toEqual(["TooManyMissedTimes"]);
  expect(warned.decision).toMatchObject({ outcome: "ran", slotMs: at("11:41:00") });
  expect(warned.decision.missed).toMatchObject([{ reason: "superseded", count: 100, exact: true }]);
  expect(plan(minutely, "11:40:59").events).toEqual([]);

  const officeHours = cronJob({ schedule: "*/10 9-17 * * 1-5" }, { lastScheduleTime: "2026-03-06T15:00:00Z" });
  const overlooked = planCronJob(officeHours, { nowMs: Date.parse("2026-03-07T10:00:00Z"), schedules });
  expect(overlooked.events).toEqual([]);
  expect(overlooked.decision).toMatchObject({
    outcome: "skipped",
    reason: "overlooked",
    slotMs: Date.parse("2026-03-06T17:50:00Z"),
  });
  expect(overlooked.decision.missed).toMatchObject([{ reason: "overlooked", count: 17 }]);
});

test("a slot that its deadline let pass is silent upstream, and shows in the decision", () => {
  const late = cronJob(
    { schedule: "*/5 * * * *", startingDeadlineSeconds: 60 },
    { lastScheduleTime: "2026-03-02T10:20:00Z" },
  );
  const { events, decision, start } = plan(late, "10:31:00");
  expect([events, start]).toEqual([[], undefined]);
  expect(decision).toMatchObject({ outcome: "skipped", reason: "deadlinePassed", slotMs: at("10:30:00") });
  expect(decision.missed).toEqual([
    { reason: "deadlinePassed", count: 2, exact: true, slotsMs: [at("10:25:00"), at("10:30:00")] },
  ]);
});

test("a deadline beyond 292 years wraps around as Go's durations do: one of 317 years lets no run start", () => {
  const patient = (startingDeadlineSeconds: number) =>
    plan(cronJob({ startingDeadlineSeconds }, { lastScheduleTime: "2026-03-02T09:00:00Z" }), "10:00:00.1").decision;
  expect(patient(9_223_372_036)).toMatchObject({ outcome: "ran", slotMs: at("10:00:00") });
  expect(patient(10_000_000_000)).toMatchObject({ outcome: "skipped", reason: "deadlinePassed" });
  expect(patient(20_000_000_000)).toMatchObject({ outcome: "ran", slotMs: at("10:00:00") });
});

test("of several slots those outside the window passed their deadline, and those inside gave way to the last", () => {
  const late = cronJob(
    { schedule: "*/5 * * * *", startingDeadlineSeconds: 400 },
    { lastScheduleTime: "2026-03-02T10:00:00Z" },
  );
  const { decision } = plan(late, "10:16:00");
  expect(decision).toMatchObject({ outcome: "ran", slotMs: at("10:15:00") });
  expect(decision.missed.map(({ reason, slotsMs }) => [reason, slotsMs])).toEqual([
    ["deadlinePassed", [at("10:05:00")]],
    ["superseded", [at("10:10:00")]],
  ]);
});

test("a missed slot is reported once, however often the CronJob is synced", () => {
  const blocked = cronJob({ concurrencyPolicy: "Forbid" }, { active: active("n-1") });
  const first = plan(blocked, "11:00:00.1");
  expect(first.decision.missed).toMatchObject([{ reason: "superseded", slotsMs: [at("10:00:00")] }]);
  const second = plan(blocked, "12:00:00.1", first.reported);
  expect(second.decision).toMatchObject({ outcome: "skipped", slotMs: at("12:00:00") });
  expect(second.decision.missed).toMatchObject([{ reason: "superseded", slotsMs: [at("11:00:00")] }]);
  expect(plan(blocked, "12:10:00", second.reported).decision).toMatchObject({ outcome: "skipped", missed: [] });

  const late = cronJob({ startingDeadlineSeconds: 0 });
  const dropped = plan(late, "10:00:00.1");
  expect(dropped.decision.outcome).toBe("skipped");
  expect(plan(late, "10:10:00", dropped.reported).decision.outcome).toBe("notDue");
});

test("a slot that Forbid holds back is missed only once it cannot start late any more", () => {
  const blocked = cronJob({ concurrencyPolicy: "Forbid", startingDeadlineSeconds: 600 }, { active: active("n-1") });
  const held = plan(blocked, "11:00:00.1");
  expect(held.decision).toMatchObject({ outcome: "skipped", reason: "stillActive", slotMs: at("11:00:00") });
  const free = cronJob({ concurrencyPolicy: "Forbid", startingDeadlineSeconds: 600 });
  expect(plan(free, "11:05:00", held.reported).decision).toMatchObject({
    outcome: "ran",
    slotMs: at("11:00:00"),
    missed: [],
  });
  expect(plan(free, "11:15:00", held.reported).decision).toMatchObject({
    outcome: "skipped",
    reason: "deadlinePassed",
    missed: [{ reason: "deadlinePassed", slotsMs: [at("11:00:00")] }],
  });
});

test("a slot that was started before is neither started nor reported as blocked", () => {
  const listed = cronJob({ concurrencyPolicy: "Forbid" }, { active: active("n-29540760") });
  expect(plan(listed, "10:00:00.1").decision).toMatchObject({ outcome: "alreadyProcessed", reason: "alreadyStarted" });
  expect(plan(listed, "10:00:00.1").events).toEqual([]);
  const elsewhere = cronJob({}, { active: [{ name: "n-29540760", namespace: "other", uid: "x" }] });
  expect(plan(elsewhere, "10:00:00.1").decision.outcome).toBe("ran");
});

test("nothing is due before the first slot after creation", () => {
  const { decision, requeueAfterMs } = plan(cronJob({}), "09:59:45");
  expect(decision).toMatchObject({ outcome: "notDue", missed: [] });
  expect(requeueAfterMs).toBe(15_100);
});

test("the local zone counts where neither the schedule nor the spec names one", () => {
  const context = { nowMs: at("10:00:00"), schedules: new Schedules("America/New_York") };
  expect(planCronJob(cronJob({ schedule: "0 5 * * *" }), context).decision.outcome).toBe("ran");
  expect(planCronJob(cronJob({ schedule: "0 5 * * *", timeZone: "UTC" }), context).decision.outcome).toBe("notDue");
  const local = planCronJob(cronJob({ schedule: "0 5 * * *", timeZone: "Local" }), context);
  expect(local.start?.job.metadata.annotations).toEqual({
    "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-03-02T05:00:00-05:00",
  });
});

test("a text in an event is quoted as Go does it", () => {
  const { events } = plan(cronJob({ schedule: 'a"\u0001\u00a0é\t' }), "10:00:00");
  expect(events[0]?.message).toContain('unparseable schedule: "a\\"\\x01\\u00a0é\\t" : ');
});

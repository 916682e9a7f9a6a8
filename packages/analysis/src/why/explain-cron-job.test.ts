import { type CronJob, type Event, type Job, deepFreeze, newControllerRef } from "@kubewright/api";
import { expect, test } from "vitest";

import { styleFor } from "../text/style.js";
import { cronJobText } from "./cron-job-text.js";
import { type CronJobExplanation, explainCronJob } from "./explain-cron-job.js";

type Spec = Partial<NonNullable<CronJob["spec"]>>;

const ms = (time: string): number => Date.parse(`2026-03-02T${time}Z`);

function cronJob(spec: Spec = {}, status: CronJob["status"] = {}): CronJob {
  return {
    metadata: { name: "report", namespace: "ns", uid: "u", creationTimestamp: "2026-03-02T07:30:00Z" },
    spec: {
      schedule: "0 * * * *",
      jobTemplate: { spec: { template: { spec: { containers: [], restartPolicy: "Never" } } } },
      ...spec,
    },
    status,
  };
}

function job(name: string, created: string, ended?: "Complete" | "Failed"): Job {
  return {
    metadata: {
      name,
      namespace: "ns",
      uid: `uid-${name}`,
      creationTimestamp: `2026-03-02T${created}Z`,
      annotations: { "batch.kubernetes.io/cronjob-scheduled-timestamp": `2026-03-02T${created}Z` },
      ownerReferences: [
        newControllerRef({ metadata: { name: "report", uid: "u" } }, { apiVersion: "batch/v1", kind: "CronJob" }),
      ],
    },
    status: {
      startTime: `2026-03-02T${created}Z`,
      ...(ended && {
        conditions: [
          {
            type: ended,
            status: "True",
            reason: ended === "Failed" ? "BackoffLimitExceeded" : "",
            lastTransitionTime: `2026-03-02T${created.slice(0, 3)}05:00Z`,
          },
        ],
      }),
    },
  };
}

function event(reason: string, message: string, last: string, count = 1): Event {
  return {
    metadata: { name: `e-${reason}`, namespace: "ns" },
    involvedObject: { kind: "CronJob", name: "report" },
    type: reason.startsWith("Failed") ? "Warning" : "Normal",
    reason,
    message,
    count,
    firstTimestamp: `2026-03-02T${last}Z`,
    lastTimestamp: `2026-03-02T${last}Z`,
  };
}

const ref = (name: string) => ({ kind: "Job", apiVersion: "batch/v1", namespace: "ns", name, uid: `uid-${name}` });

interface World {
  readonly jobs?: readonly Job[];
  readonly events?: readonly Event[];
}

function explain(of: CronJob, now: string, { jobs = [], events = [] }: World = {}): CronJobExplanation {
  return explainCronJob(deepFreeze({ cronJob: of, jobs: [...jobs], events: [...events], nowMs: ms(now) }));
}

test("a healthy CronJob has nothing to do until its next slot", () => {
  const explained = explain(cronJob({}, { lastScheduleTime: "2026-03-02T10:00:00Z" }), "10:20:00", {
    jobs: [job("report-29540760", "10:00:00", "Complete"), job("report-29540700", "09:00:00", "Failed")],
  });
  expect(explained.now).toMatchObject({ outcome: "notDue", wakeMs: ms("11:00:00.1") });
  expect(explained.missed).toEqual([]);
  expect(explained.next.runsMs.slice(0, 2)).toEqual([ms("11:00:00"), ms("12:00:00")]);
  expect(explained.runs.map(({ job: name, outcome, reason }) => [name, outcome, reason])).toEqual([
    ["report-29540760", "Complete", undefined],
    ["report-29540700", "Failed", "BackoffLimitExceeded"],
  ]);
});

test("after an outage: what starts, what is lost, and that no controller is running", () => {
  const { now, missed } = explain(cronJob({}, { lastScheduleTime: "2026-03-02T08:00:00Z" }), "11:20:00");
  expect(now).toMatchObject({ outcome: "ran", slotMs: ms("11:00:00"), job: "report-29540820" });
  expect(now.message).toBe(
    "starts a run at once: report-29540820, for Mon 2026-03-02 11:00 UTC, the most recent of the slots missed since the run of Mon 2026-03-02 08:00 UTC, 20m late; if this persists, no controller is running, or its requests are refused",
  );
  expect(missed).toEqual([
    {
      reason: "notLooked",
      count: 2,
      exact: true,
      firstMs: ms("09:00:00"),
      lastMs: ms("10:00:00"),
      why: "no controller was running, or the CronJob was suspended then; only the most recent slot is started",
    },
  ]);
});

test("failed attempts are reported with the server's message", () => {
  const events = [event("FailedCreate", "Error creating job: exceeded quota", "11:19:00", 7)];
  const explained = explain(cronJob({}, { lastScheduleTime: "2026-03-02T08:00:00Z" }), "11:20:00", { events });
  expect(explained.now.message).toContain("its attempts fail: Error creating job: exceeded quota (7 times");
  expect(explained.missed).toMatchObject([{ reason: "creationFailed", count: 2 }]);
});

test("Forbid: the slot held back, by what, until when, and those before it", () => {
  const spec = { concurrencyPolicy: "Forbid", startingDeadlineSeconds: 5400 } as const;
  const long = job("report-29540700", "09:00:00");
  const status = { active: [ref("report-29540700")], lastScheduleTime: "2026-03-02T09:00:00Z" };
  const explained = explain(cronJob(spec, status), "11:20:00", { jobs: [long] });
  expect(explained.now).toMatchObject({ outcome: "skipped", reason: "stillActive", slotMs: ms("11:00:00") });
  expect(explained.now.message).toBe(
    "does not start the run of Mon 2026-03-02 11:00 UTC: report-29540700 has been active for 2h20m and concurrencyPolicy is Forbid; it starts late, as soon as that Job ends, if no later slot is due by then and it is before Mon 2026-03-02 12:30 UTC (startingDeadlineSeconds)",
  );
  expect(explained.missed).toMatchObject([
    {
      reason: "stillActive",
      count: 1,
      firstMs: ms("10:00:00"),
      why: expect.stringContaining("report-29540700") as string,
    },
  ]);
});

test("slots before the creation of the blocking Job are not attributed to it", () => {
  const late = { ...job("report-29540700", "10:30:00") };
  const status = { active: [ref("report-29540700")], lastScheduleTime: "2026-03-02T07:00:00Z" };
  const { missed } = explain(cronJob({ concurrencyPolicy: "Forbid" }, status), "12:10:00", { jobs: [late] });
  expect(missed.map(({ reason, count, firstMs }) => [reason, count, firstMs])).toEqual([
    ["notLooked", 3, ms("08:00:00")],
    ["stillActive", 1, ms("11:00:00")],
  ]);
});

test("skipped slots stand between the runs, in order of time and with their reasons", () => {
  const spec = { concurrencyPolicy: "Forbid", successfulJobsHistoryLimit: 10 } as const;
  const long = job("report-29540640", "08:00:00");
  const ended = {
    ...long,
    status: {
      ...long.status,
      conditions: [{ type: "Complete", status: "True", lastTransitionTime: "2026-03-02T10:30:00Z" }],
    },
  } as Job;
  const jobs = [ended, job("report-29540820", "11:00:00", "Complete"), job("report-29540940", "13:00:00", "Complete")];
  const explained = explain(cronJob(spec, { lastScheduleTime: "2026-03-02T13:00:00Z" }), "13:20:00", { jobs });
  expect(explained.skipped).toMatchObject([
    { reason: "notLooked", count: 1, firstMs: ms("12:00:00") },
    { reason: "stillActive", count: 2, firstMs: ms("09:00:00"), lastMs: ms("10:00:00") },
  ]);
  const text = cronJobText(explained, { style: styleFor(false), width: 200 });
  expect(
    /^Runs.*(?=^History)/ms
      .exec(text)?.[0]
      .split("\n")
      .map((line) => line.slice(10)),
  ).toEqual([
    "Mon 2026-03-02 13:00 UTC  report-29540940  Complete in 5m",
    "× 1 slot, Mon 2026-03-02 12:00 UTC: no controller was running, or the CronJob was suspended then",
    "Mon 2026-03-02 11:00 UTC  report-29540820  Complete in 5m",
    "× 2 slots, from Mon 2026-03-02 09:00 UTC to Mon 2026-03-02 10:00 UTC: report-29540640 still active (Forbid)",
    "Mon 2026-03-02 08:00 UTC  report-29540640  Complete in 2h30m",
    "",
  ]);
});

test("a slot whose Job a history limit, a TTL or an edit may explain is not reported as skipped", () => {
  const jobs = [
    job("report-1", "08:00:00", "Failed"),
    ...["11:00:00", "12:00:00", "13:00:00"].map((time) => job(`report-${time}`, time, "Complete")),
  ];
  const of = cronJob({}, { lastScheduleTime: "2026-03-02T13:00:00Z" });
  expect(explain(of, "13:20:00", { jobs }).skipped).toEqual([]);
  const two = [job("report-1", "08:00:00", "Complete"), job("report-2", "10:00:00", "Complete")];
  const template = of.spec.jobTemplate;
  const withTtl = cronJob({ jobTemplate: { spec: { ...template.spec!, ttlSecondsAfterFinished: 60 } } });
  expect(explain(withTtl, "10:20:00", { jobs: two }).skipped).toEqual([]);
  const edited = { ...of, metadata: { ...of.metadata, managedFields: [{ time: "2026-03-02T09:30:00Z" }] } };
  expect(explain(edited, "10:20:00", { jobs: two }).skipped).toEqual([]);
  expect(explain(of, "10:20:00", { jobs: two }).skipped).toMatchObject([{ count: 1, firstMs: ms("09:00:00") }]);
});

test("suspended: what is missed meanwhile, and what resuming would start", () => {
  const explained = explain(cronJob({ suspend: true }, { lastScheduleTime: "2026-03-02T08:00:00Z" }), "11:20:00");
  expect(explained.now).toMatchObject({ outcome: "skipped", reason: "suspended" });
  expect(explained.now.wakeMs).toBeUndefined();
  expect(explained.now.message).toBe(
    "starts nothing: the CronJob is suspended; resumed now, it would start report-29540820 at once, for Mon 2026-03-02 11:00 UTC",
  );
  expect(explained.missed).toMatchObject([{ reason: "suspended", count: 2, firstMs: ms("09:00:00") }]);
  expect(explained.next).toMatchObject({ holds: "ifResumed" });
});

test("a deadline that has passed drops the run for good", () => {
  const explained = explain(
    cronJob({ startingDeadlineSeconds: 60 }, { lastScheduleTime: "2026-03-02T10:00:00Z" }),
    "11:20:00",
  );
  expect(explained.now).toMatchObject({ outcome: "skipped", reason: "deadlinePassed" });
  expect(explained.now.message).toBe(
    "starts nothing: the slot Mon 2026-03-02 11:00 UTC went by and cannot be started any more: startingDeadlineSeconds passed",
  );
  expect(explained.missed).toMatchObject([
    { reason: "deadlinePassed", count: 1, why: expect.stringContaining("(60)") as string },
  ]);
});

test("a deadline that overflows the controller's nanoseconds is reported with its effect", () => {
  const never = explain(cronJob({ startingDeadlineSeconds: 9_223_372_037 }), "11:20:00");
  expect(never.now).toMatchObject({ outcome: "skipped", reason: "deadlinePassed" });
  expect(never.notes).toContain(
    "startingDeadlineSeconds 9223372037: more nanoseconds than the controller can count, so no run ever starts",
  );
  const spec = { concurrencyPolicy: "Forbid", startingDeadlineSeconds: 2e10 } as const;
  const long = job("report-29540700", "09:00:00");
  const status = { active: [ref("report-29540700")], lastScheduleTime: "2026-03-02T09:00:00Z" };
  const held = explain(cronJob(spec, status), "11:20:00", { jobs: [long] });
  expect(held.now.message).toContain("before Tue 2075-05-21 22:58:46 UTC (startingDeadlineSeconds)");
});

test("more than a hundred missed slots: reported as an estimate, and the last one starts", () => {
  const explained = explain(
    cronJob({ schedule: "* * * * *" }, { lastScheduleTime: "2026-03-02T08:00:00Z" }),
    "11:20:30",
  );
  expect(explained.now).toMatchObject({ outcome: "ran", slotMs: ms("11:20:00") });
  expect(explained.missed).toMatchObject([{ count: 199, exact: false, firstMs: ms("08:01:00") }]);
  expect(explained.notes).toContainEqual(expect.stringContaining("TooManyMissedTimes"));
});

test.each([
  [{ timeZone: "Europe/Berln" }, "unknownTimeZone", 'invalid timeZone: "Europe/Berln": unknown time zone Europe/Berln'],
  [{ schedule: "61 * * * *" }, "unparseableSchedule", "end of range (61) above maximum (59): 61"],
  [{ schedule: "0 0 31 2 *" }, "invalidSchedule", "the schedule never fires"],
] as const)("a stored spec that cannot run says so: %j", (spec, reason, text) => {
  const { now, next } = explain(cronJob(spec), "11:20:00");
  expect(now).toMatchObject({ outcome: "stopped", reason });
  expect(now.message).toContain(text);
  expect(next.runsMs).toEqual([]);
});

test("a CronJob that is being deleted starts nothing", () => {
  const of = cronJob();
  const deleted = { ...of, metadata: { ...of.metadata, deletionTimestamp: "2026-03-02T11:00:00Z" } };
  const { now, next } = explain(deleted, "11:20:00");
  expect(now).toEqual({
    outcome: "stopped",
    reason: "beingDeleted",
    message: "starts nothing: the CronJob is being deleted",
  });
  expect(next.runsMs).toEqual([]);
});

test("a similar time zone is suggested", () => {
  expect(explain(cronJob({ timeZone: "Europe/Berln" }), "11:20:00").notes).toContain(
    'timeZone "Europe/Berln" (did you mean Europe/Berlin?)',
  );
});

test("a Job that took the name: adopted when it is the CronJob's own, a lost run when it is not", () => {
  const own = explain(cronJob({}, { lastScheduleTime: "2026-03-02T10:00:00Z" }), "11:00:01", {
    jobs: [job("report-29540820", "11:00:00")],
  });
  expect(own.now).toMatchObject({ outcome: "adopted", reason: "due" });
  const stranger: Job = { metadata: { name: "report-29540820", namespace: "ns", uid: "x" } };
  const taken = explain(cronJob({}, { lastScheduleTime: "2026-03-02T10:00:00Z" }), "11:00:01", { jobs: [stranger] });
  expect(taken.now).toMatchObject({
    outcome: "alreadyExists",
    reason: "ownedByAnother",
    wakeMs: Date.parse("2026-03-02T12:00:00.100Z"),
  });
  expect(taken.now.message).toContain("is not controlled by this CronJob");
});

test("Jobs over the history limits, and Jobs made by hand, are reported", () => {
  const hand = job("mine", "10:30:00");
  const manual = {
    ...hand,
    metadata: { ...hand.metadata, annotations: { "cronjob.kubernetes.io/instantiate": "manual" } },
  };
  const { history, notes, runs } = explain(
    cronJob({ successfulJobsHistoryLimit: 1 }, { lastScheduleTime: "2026-03-02T10:00:00Z" }),
    "10:40:00",
    { jobs: [job("report-1", "08:00:00", "Complete"), job("report-2", "09:00:00", "Complete"), manual] },
  );
  expect(history).toEqual({ successful: { limit: 1, kept: 2 }, failed: { kept: 0 }, deletes: ["report-1"] });
  expect(runs[0]).toMatchObject({ job: "mine", madeByHand: true, outcome: "Running" });
  expect(notes).toContainEqual(expect.stringMatching(/^mine is unfinished and not listed as active/));
});

test("@every counts from the last run, and so do the next runs", () => {
  const { next } = explain(
    cronJob({ schedule: "@every 90m" }, { lastScheduleTime: "2026-03-02T10:00:30Z" }),
    "10:20:00",
  );
  expect(next.runsMs.slice(0, 2)).toEqual([ms("11:30:30"), ms("13:00:30")]);
});

test("the night without 02:30 is named among the next runs", () => {
  const nightly = cronJob(
    { schedule: "30 2 * * *", timeZone: "America/New_York" },
    { lastScheduleTime: "2026-03-07T07:30:00Z" },
  );
  const explained = explainCronJob({
    cronJob: nightly,
    jobs: [],
    events: [],
    nowMs: Date.parse("2026-03-07T12:00:00Z"),
  });
  const text = cronJobText(explained, { style: styleFor(false), width: 120 });
  expect(text).toContain(
    [
      "Next      × Sun 2026-03-08 02:30: clocks go forward from 02:00 to 03:00, so no run",
      "          Mon 2026-03-09 02:30:00 -04:00  2026-03-09T06:30:00Z  in 1d18h",
    ].join("\n"),
  );
});

test("entries after the explained time are noted", () => {
  const { notes } = explain(cronJob(), "08:30:00", { jobs: [job("report-1", "09:00:00", "Complete")] });
  expect(notes).toContainEqual(expect.stringContaining("give its own time with --at"));
});

test("without events the explanation is less detailed", () => {
  const explained = explainCronJob({ cronJob: cronJob(), jobs: [], events: undefined, nowMs: ms("08:30:00") });
  expect(explained.events).toEqual([]);
  expect(explained.notes).toContainEqual(expect.stringContaining("events cannot be read"));
});

test("the text fits the width, and no text of the cluster sends control characters to the terminal", () => {
  const events = [event("FailedCreate", `\u001B[31m${"red ".repeat(60)}`, "11:19:00", 7)];
  const explained = explain(cronJob({}, { lastScheduleTime: "2026-03-02T08:00:00Z" }), "11:20:00", { events });
  const text = cronJobText(explained, { style: styleFor(false), width: 70 });
  expect(text).not.toContain("\u001B");
  expect(text).toContain("\\x1b[31m");
  expect(Math.max(...text.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(70);
});

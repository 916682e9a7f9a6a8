import { objectKey } from "@kubewright/api";
import type { CronJobDecision, MissReason, MissedSlots } from "@kubewright/cronjob";
import { expect, onTestFinished, test, vi } from "vitest";

import { type DigestGroup, RunDigest } from "../digest/run-digest.js";
import { findHighlights } from "../digest/highlights.js";
import { styleFor } from "../text/style.js";
import type { TimelineLimits } from "./bounded-rows.js";
import { Timeline } from "./timeline.js";
import { summaryText, timelineText } from "../text/timeline-text.js";
import type { DecisionRecord, JobState, ObjectRecord, PodState, TraceHeader, TraceRecord } from "../run/trace.js";

const START = Date.parse("2026-01-01T00:00:00Z");
const at = (minutes: number): string => new Date(START + minutes * 60_000).toISOString();

const cronJob: ObjectRecord = {
  type: "object",
  at: at(0),
  change: "ADDED",
  kind: "CronJob",
  namespace: "default",
  name: "report",
  uid: "cron",
  state: { schedule: "0 * * * *", concurrencyPolicy: "Forbid", active: [] },
};

function job(minutes: number, state: Partial<JobState>, change: ObjectRecord["change"] = "MODIFIED"): ObjectRecord {
  return {
    type: "object",
    at: at(minutes),
    change,
    kind: "Job",
    namespace: "default",
    name: "report-1",
    uid: "job",
    owner: { kind: "CronJob", name: "report", uid: "cron" },
    state: { active: 0, succeeded: 0, failed: 0, ...state },
  };
}

function pod(
  minutes: number,
  name: string,
  state: Partial<PodState>,
  change: ObjectRecord["change"] = "MODIFIED",
): ObjectRecord {
  return {
    type: "object",
    at: at(minutes),
    change,
    kind: "Pod",
    namespace: "default",
    name,
    uid: name,
    owner: { kind: "Job", name: "report-1", uid: "job" },
    state: { phase: "Pending", ...state },
  };
}

const HEADER: TraceHeader = {
  type: "header",
  traceVersion: 1,
  kubernetes: "v1.36.0",
  seed: 1,
  start: at(0),
  end: at(70),
  timeZoneData: "test",
};

const end = (minutes: number): TraceRecord => ({ type: "end", at: at(minutes) });

/** Returns the groups that a terminal shows for these records. */
function digestOf(records: readonly TraceRecord[], limits: TimelineLimits = {}): readonly DigestGroup[] {
  const digest = new RunDigest();
  const timeline = new Timeline({ ...limits, listener: digest });
  for (const record of records) timeline.add(record);
  return digest.groups;
}

function decision(decided: Partial<CronJobDecision>): DecisionRecord {
  const base = {
    key: objectKey({ namespace: "default", name: "report" }),
    atMs: START,
    outcome: "notDue",
    reason: "notDue",
    message: "",
    missed: [],
  } as const;
  return { type: "decision", at: at(0), controller: "cronjob-controller", decision: { ...base, ...decided } };
}

function missed(reason: MissReason, slotsMs: readonly number[]): MissedSlots {
  return { reason, slotsMs, count: slotsMs.length, exact: true };
}

test("a run that Forbid held back but that started late is not skipped", () => {
  const timeline = new Timeline();
  timeline.add(cronJob);
  timeline.add(decision({ outcome: "skipped", reason: "stillActive", slotMs: START, activeJobs: ["report-0"] }));
  timeline.add(decision({ outcome: "ran", reason: "due", slotMs: START }));
  expect(timeline.totals.runsSkipped).toBe(0);
});

const RECORDS: readonly TraceRecord[] = [
  cronJob,
  job(60, { scheduledFor: at(60) }, "ADDED"),
  pod(60, "p1", {}, "ADDED"),
  pod(61, "p1", { phase: "Running", startedAt: at(61) }),
  pod(90, "p1", { phase: "Failed", startedAt: at(61), finishedAt: at(90), exitCode: 3 }),
  pod(91, "p2", {}, "ADDED"),
  pod(92, "p2", { phase: "Running", startedAt: at(92) }),
  pod(130, "p2", { phase: "Succeeded", startedAt: at(92), finishedAt: at(130), exitCode: 0 }),
  job(130, { startTime: at(60), succeeded: 1, failed: 1, outcome: { type: "Complete", at: at(130) } }),
  decision({ outcome: "skipped", reason: "stillActive", slotMs: START + 120 * 60_000, activeJobs: ["report-1"] }),
  decision({ missed: [missed("deadlinePassed", [START + 120 * 60_000])] }),
];

function recordedTimeline(): Timeline {
  const timeline = new Timeline();
  for (const record of RECORDS) timeline.add(record);
  return timeline;
}

test("a CronJob's runs and skipped slots are rows of one group, in order of time", () => {
  const timeline = recordedTimeline();
  expect(timeline.groups).toHaveLength(1);
  expect(timeline.groups[0]!.rows.map((row) => row.type)).toEqual(["run", "skipped"]);
  expect(timeline.groups[0]!.rows[0]).toMatchObject({
    outcome: "Complete",
    succeeded: 1,
    failed: 1,
    pods: [
      { name: "p1", outcome: "Failed", exitCode: 3 },
      { name: "p2", outcome: "Succeeded" },
    ],
  });
  expect(timeline.totals).toMatchObject({
    jobs: 1,
    jobsComplete: 1,
    runsSkipped: 1,
    pods: 2,
    podsSucceeded: 1,
    podsFailed: 1,
  });
});

test("a Job deleted after its end keeps its outcome, and one deleted before has none", () => {
  const ended = recordedTimeline();
  ended.add(job(200, { outcome: { type: "Complete", at: at(130) } }, "DELETED"));
  expect(ended.groups[0]!.rows[0]).toMatchObject({ outcome: "Complete" });
  const replaced = new Timeline();
  for (const record of [cronJob, job(60, {}, "ADDED"), job(70, {}, "DELETED")]) replaced.add(record);
  expect(replaced.groups[0]!.rows[0]).toMatchObject({ outcome: "Deleted", endMs: START + 70 * 60_000 });
});

test("rows are bounded: the rest is counted, not stored", () => {
  const timeline = new Timeline();
  timeline.add(cronJob);
  for (let slot = 0; slot < 1_000; slot++) timeline.add(decision({ missed: [missed("superseded", [START + slot])] }));
  expect(timeline.groups[0]!.rows).toHaveLength(200);
  expect(timeline.groups[0]!.hiddenRows).toBe(800);
  expect(timeline.totals.runsSkipped).toBe(1_000);
});

test("the terminal shows outcome by shape, the pods as bars and the reason of a skip", () => {
  const text = timelineText(digestOf(RECORDS), {
    startMs: START,
    endMs: START + 180 * 60_000,
    width: 112,
    style: styleFor(false),
  });
  const [heading, axis, run, skipped] = text.split("\n");
  expect(heading).toBe('CronJob default/report  "0 * * * *" · UTC · Forbid');
  expect(axis).toMatch(/^ {2}UTC +01-01 +01:00 +02:00$/);
  expect(run).toMatch(/^ {2}01-01 01:00 {5} +▒+─?█+ +Complete in 1h10m \(1 ok, 1 failed\)$/);
  expect(skipped).toMatch(/^ {2}01-01 02:00 +× skipped: report-1 still active past the deadline$/);
});

test("a run that started after its slot shows how late", () => {
  const text = timelineText(digestOf([cronJob, job(64, { scheduledFor: at(60) }, "ADDED")]), {
    startMs: START,
    endMs: START + 70 * 60_000,
    width: 112,
    style: styleFor(false),
  });
  expect(text).toMatch(/01-01 01:00 .*Running for 6m, started 4m late$/m);
});

test("pods that overlap in time are drawn on separate lines", () => {
  const records = [cronJob, job(60, {}, "ADDED"), pod(60, "p1", {}, "ADDED"), pod(60, "p2", {}, "ADDED")];
  const text = timelineText(digestOf(records), {
    startMs: START,
    endMs: START + 180 * 60_000,
    width: 100,
    style: styleFor(false),
  });
  expect(text.split("\n").filter((line) => line.includes("─"))).toHaveLength(2);
});

test("names cannot send control characters to the terminal", () => {
  const groups = digestOf([{ ...cronJob, name: "evil\u001B[2J" }]);
  expect(timelineText(groups, { startMs: START, endMs: START + 1, width: 80, style: styleFor(false) })).not.toContain(
    "\u001B",
  );
});

test("the summary counts what the timeline hides", () => {
  expect(summaryText(recordedTimeline(), styleFor(false))).toBe(
    "Jobs  1 run, 1 complete, 0 failed, 1 skipped\nPods  2 started, 1 succeeded, 1 failed\n",
  );
});

const options = { startMs: START, width: 112, style: styleFor(false) };

test("skipped runs of one reason that follow each other take one row, which counts those that are not listed", () => {
  const slots = Array.from({ length: 10 }, (_, index) => START + index * 60_000);
  const missed: MissedSlots = { slotsMs: slots, count: 12, exact: true, reason: "superseded" };
  const groups = digestOf([cronJob, decision({ missed: [missed] })]);
  const lines = timelineText(groups, { ...options, endMs: START + 240 * 60_000 }).split("\n");
  expect(lines.filter((line) => line.includes("×"))).toEqual([expect.stringMatching(/^ {2}01-01 00:00 +×+$/)]);
  expect(lines.join("\n")).toContain("12 skipped, of which the last 2 are not drawn: a later run was due as well");
});

test("a Job without a CronJob shows when it was removed, and a row how many of its pods are hidden", () => {
  const { owner: _owner, ...alone } = job(0, {}, "ADDED");
  const record = alone as ObjectRecord;
  const state: JobState = { active: 0, succeeded: 2, failed: 0, outcome: { type: "Complete", at: at(5) } };
  const records = [
    record,
    pod(0, "a", {}, "ADDED"),
    pod(0, "b", {}, "ADDED"),
    { ...record, change: "MODIFIED", state } as ObjectRecord,
    { ...record, change: "DELETED", at: at(15), state } as ObjectRecord,
  ];
  const text = timelineText(digestOf(records, { maxPods: 1 }), { ...options, endMs: START + 240 * 60_000 });
  expect(text).toContain("Complete in 5m (2 ok), gone 10m later\n");
  expect(text).toContain("… and 1 more pods; --json has them all\n");
});

test("the pods of a completion index share a line, and a note that does not fit beside it is below", () => {
  const records: TraceRecord[] = [cronJob, job(0, { scheduledFor: at(0) }, "ADDED")];
  for (const [index, endsAt] of [
    [0, 10],
    [1, 20],
  ] as const)
    records.push(pod(0, `p${index}`, { phase: "Failed", index, startedAt: at(0), finishedAt: at(endsAt) }, "ADDED"));
  records.push(pod(30, "again", { phase: "Succeeded", index: 1, startedAt: at(30), finishedAt: at(60) }, "ADDED"));
  const outcome = { type: "Failed", reason: "R".repeat(60), at: at(60) } as const;
  records.push(job(60, { failed: 2, succeeded: 1, scheduledFor: at(0), outcome }));
  const lines = timelineText(digestOf(records), { ...options, endMs: START + 60 * 60_000 }).split("\n");
  expect(lines[2]).toMatch(/^ {2}01-01 00:00 +▒+$/);
  expect(lines[3]).toMatch(/^ +▒+ +█+$/);
  expect(lines[4]).toMatch(/^ {18}Failed after 1h \(1 ok, 2 failed\): R{60}$/);
});

test("a pod that is deleted while it runs was stopped and did not fail, and its Job is not one that has still to end", () => {
  const timeline = new Timeline();
  const records = [
    cronJob,
    job(60, {}, "ADDED"),
    pod(60, "p1", {}, "ADDED"),
    pod(61, "p1", { phase: "Running", startedAt: at(61) }),
    pod(80, "p1", { phase: "Running", startedAt: at(61), deleting: true }),
    pod(81, "p1", { phase: "Failed", startedAt: at(61), finishedAt: at(81), exitCode: 143, deleting: true }),
    job(81, {}, "DELETED"),
  ];
  for (const record of records) timeline.add(record);
  expect(timeline.groups[0]!.rows[0]).toMatchObject({ pods: [{ outcome: "Failed", stopped: true }] });
  expect(timeline.totals).toMatchObject({ jobs: 1, jobsDeleted: 1, podsFailed: 0, podsStopped: 1 });
});

test("a slot that Forbid still holds back at the end of the window is drawn as skipped, and counted", () => {
  const timeline = new Timeline();
  const held = decision({ outcome: "skipped", reason: "stillActive", slotMs: START, activeJobs: ["report-0"] });
  for (const record of [cronJob, held, end(10)]) timeline.add(record);
  expect(timeline.totals.runsSkipped).toBe(1);
  expect(timeline.groups[0]!.rows).toEqual([
    { type: "skipped", slotMs: START, cause: "stillActive", reason: "report-0 still active (Forbid)" },
  ]);
});

test("a slot that Forbid held back past its deadline can no longer start, and its row says so", () => {
  const held = decision({ outcome: "skipped", reason: "stillActive", slotMs: START, activeJobs: ["report-0"] });
  const withDeadline = { ...cronJob, state: { ...cronJob.state, startingDeadlineSeconds: 600 } } as ObjectRecord;
  for (const [minutes, cause] of [
    [9, "stillActive"],
    [11, "deadlinePassed"],
  ] as const) {
    const timeline = new Timeline();
    for (const record of [withDeadline, held, end(minutes)]) timeline.add(record);
    expect(timeline.groups[0]!.rows).toMatchObject([{ type: "skipped", cause }]);
  }
});

test("a slot whose Job's name is taken is skipped, once: when the next slot is due, or at the end of the window", () => {
  const taken = decision({ outcome: "alreadyExists", reason: "ownedByAnother", slotMs: START });
  const row = { type: "skipped", slotMs: START, cause: "ownedByAnother", reason: "its Job's name is taken" };
  const ended = new Timeline();
  for (const record of [cronJob, taken, end(59)]) ended.add(record);
  expect(ended.groups[0]!.rows).toEqual([row]);
  const next = new Timeline();
  const slots: MissedSlots = { reason: "ownedByAnother", count: 1, exact: true, slotsMs: [START] };
  const later = decision({ outcome: "ran", reason: "due", slotMs: START + 60 * 60_000, missed: [slots] });
  for (const record of [cronJob, taken, taken, later, end(70)]) next.add(record);
  expect(next.groups[0]!.rows).toEqual([row]);
});

test("a slot that was held back, and then reported as missed, is not skipped again at the end", () => {
  const timeline = new Timeline();
  const held = decision({ outcome: "skipped", reason: "stillActive", slotMs: START, activeJobs: ["report-0"] });
  for (const record of [cronJob, held, decision({ missed: [missed("superseded", [START])] }), end(10)])
    timeline.add(record);
  expect(timeline.totals.runsSkipped).toBe(1);
  expect(timeline.groups[0]!.rows).toMatchObject([{ cause: "stillActive" }]);
});

test("a restarted controller that reports the same missed slots again adds no rows", () => {
  const timeline = new Timeline();
  const reported = decision({ missed: [missed("superseded", [START, START + 60_000])] });
  const many: MissedSlots = { slotsMs: [START + 120_000], count: 150, exact: true, reason: "superseded" };
  const more = decision({ missed: [many], slotMs: START + 600_000 });
  const next = decision({ missed: [missed("superseded", [START + 600_000])] });
  for (const record of [cronJob, reported, reported, more, reported, more, next, end(30)]) timeline.add(record);
  expect(timeline.totals.runsSkipped).toBe(2 + 150 + 1);
});

test("objects that ended by the second in which the window begins are excluded, also a pod that never had a container", () => {
  const timeline = new Timeline();
  const was = { createdAt: at(5) };
  const ended = job(10, { outcome: { type: "Failed", at: at(10) } }, "ADDED");
  const records = [
    { ...HEADER, start: at(10) },
    cronJob,
    { ...ended, ...was } as ObjectRecord,
    { ...pod(10, "p1", { phase: "Succeeded", finishedAt: at(10) }, "ADDED"), ...was } as ObjectRecord,
    { ...pod(10, "p2", { phase: "Failed", reason: "Evicted" }, "ADDED"), ...was } as ObjectRecord,
    job(20, { outcome: { type: "Failed", at: at(10) } }, "DELETED"),
    pod(20, "p2", { phase: "Failed", reason: "Evicted" }, "DELETED"),
  ];
  for (const record of records) timeline.add(record);
  expect(timeline.totals).toMatchObject({ jobs: 0, jobsFailed: 0, pods: 0, podsFailed: 0, podsSucceeded: 0 });
});

test("slots before the window are excluded, whether they were missed then or are still held back", () => {
  const timeline = new Timeline();
  const header = { ...HEADER, start: at(10) };
  const before = decision({ missed: [missed("superseded", [START])] });
  const held = decision({ outcome: "skipped", reason: "stillActive", slotMs: START, activeJobs: ["report-0"] });
  const inTime = decision({ missed: [missed("superseded", [START + 600_000])] });
  for (const record of [header, cronJob, before, held, inTime, held, end(70)]) timeline.add(record);
  expect(timeline.groups[0]!.rows).toMatchObject([{ slotMs: START + 600_000 }]);
  expect(timeline.totals.runsSkipped).toBe(1);
});

test("a Job that Replace deleted names its replacement", () => {
  const replaced = decision({ outcome: "replaced", reason: "due", jobName: "report-2", activeJobs: ["report-1"] });
  const gone = job(70, {}, "DELETED");
  for (const records of [
    [cronJob, job(60, {}, "ADDED"), replaced, gone],
    [cronJob, job(60, {}, "ADDED"), gone, replaced],
  ]) {
    const text = timelineText(digestOf([...records, end(120)]), { ...options, endMs: START + 120 * 60_000 });
    expect(text).toContain("Deleted after 10m: replaced by report-2");
  }
});

test("slots in a clock gap are skipped, with the text of the schedule command, in the CronJob's own time", () => {
  const winterTime = { ...cronJob, at: "2026-03-28T12:00:00.000Z" };
  const berlin = { schedule: "30 2 * * *", timeZone: "Europe/Berlin", active: [] };
  const records = [
    { ...winterTime, state: berlin } as ObjectRecord,
    { type: "end", at: "2026-03-30T12:00:00Z" } as const,
  ];
  const startMs = Date.parse("2026-03-28T12:00:00Z");
  const text = timelineText(digestOf(records), { ...options, startMs, endMs: startMs + 48 * 3_600_000 });
  expect(text).toMatch(/^ {2}Europe\/Berlin +(18:00 +)?03-29/m);
  expect(text).toMatch(
    /^ {2}03-29 03:00 +.*skipped: Sun 2026-03-29 02:30: clocks go forward from 02:00 to 03:00, so no run/m,
  );
});

test("a time zone is read once for any number of CronJobs", () => {
  const asked = vi.spyOn(Intl, "DateTimeFormat");
  onTestFinished(() => asked.mockRestore());
  const state = { schedule: "30 2 * * *", timeZone: "Europe/Berlin", active: [] };
  const records = Array.from({ length: 50 }, (_, index) => ({
    ...cronJob,
    name: `report-${index}`,
    uid: `cron-${index}`,
    state,
  }));
  const groups = digestOf([...records, end(24 * 60)]);
  timelineText(groups, { ...options, endMs: START + 86_400_000 });
  findHighlights(groups, START);
  // The timeline, the terminal and the summary each look up the zone.
  expect(asked.mock.calls.length).toBeLessThanOrEqual(3 * 2);
});

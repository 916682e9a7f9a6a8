import { objectKey } from "@kubewright/api";
import type { CronJobDecision } from "@kubewright/cronjob";
import { expect, test } from "vitest";

import type { CronJobState, JobState, TraceRecord } from "../run/trace.js";
import { compareRuns } from "./compare-runs.js";
import { RunRecords, type RunRecordsOptions } from "./run-records.js";

const at = (time: string): string => `2026-01-01T${time}:00.000Z`;
const ms = (time: string): number => Date.parse(at(time));

const cronJob = (state: Partial<CronJobState> = {}, time = "00:00"): TraceRecord => ({
  type: "object",
  at: at(time),
  change: "ADDED",
  kind: "CronJob",
  namespace: "default",
  name: "report",
  uid: "cron",
  state: { schedule: "0 * * * *", active: [], ...state },
});

function run(
  slot: string,
  state: Partial<JobState> = {},
  { time = slot, name = `report-${slot}`, manual = false, change = "ADDED" as const } = {},
): TraceRecord {
  return {
    type: "object",
    at: at(time),
    change,
    kind: "Job",
    namespace: "default",
    name,
    uid: name,
    owner: { kind: "CronJob", name: "report", uid: "cron" },
    state: { active: 0, succeeded: 0, failed: 0, ...(manual ? {} : { scheduledFor: at(slot) }), ...state },
  };
}

const complete = (end: string): Partial<JobState> => ({ outcome: { type: "Complete", at: at(end) } });
const failed = (end: string, reason: string): Partial<JobState> => ({
  outcome: { type: "Failed", at: at(end), reason },
});

const decided = (decision: Partial<CronJobDecision>): TraceRecord => ({
  type: "decision",
  at: at("00:00"),
  controller: "cronjob-controller",
  decision: {
    key: objectKey({ namespace: "default", name: "report" }),
    atMs: 0,
    outcome: "notDue",
    reason: "notDue",
    message: "",
    missed: [],
    ...decision,
  },
});

function recordRuns(records: readonly TraceRecord[], options: RunRecordsOptions = {}): RunRecords {
  const made = new RunRecords(options);
  for (const record of records) made.add(record);
  return made;
}

const compare = (a: readonly TraceRecord[], b: readonly TraceRecord[]) => compareRuns(recordRuns(a), recordRuns(b));

test.each([
  ["outcome", complete("01:05"), failed("01:05", "BackoffLimitExceeded"), ["outcome"]],
  ["reason", failed("01:05", "DeadlineExceeded"), failed("01:05", "BackoffLimitExceeded"), ["outcome"]],
  ["duration", complete("01:05"), complete("01:06"), ["duration"]],
  ["failed pods", { ...complete("01:05"), failed: 1 }, complete("01:05"), ["failedPods"]],
] as const)("the same slot with another %s is reported as different", (_title, inA, inB, differs) => {
  const { groups, totals } = compare([cronJob(), run("01:00", inA)], [cronJob(), run("01:00", inB)]);
  expect(groups[0]?.differences).toMatchObject([{ type: "different", slotMs: ms("01:00"), differs }]);
  expect(totals).toEqual({ a: 1, b: 1, same: 0, different: 1, onlyA: 0, onlyB: 0 });
});

test("a run that starts late on one side, and takes as long, differs by its start alone", () => {
  const late = run("01:00", complete("01:15"), { time: "01:10" });
  const { groups } = compare([cronJob(), run("01:00", complete("01:05"))], [cronJob(), late]);
  expect(groups[0]?.differences).toMatchObject([{ differs: ["start"] }]);
});

test("a slot that one side does not have is not scheduled there, or was not started", () => {
  const { groups } = compare([cronJob(), run("01:00"), run("02:00")], [cronJob({ schedule: "0 */2 * * *" })]);
  expect(groups[0]?.differences).toMatchObject([
    { type: "onlyA", absent: "notScheduled" },
    { type: "onlyA", absent: "notStarted" },
  ]);
});

test("a change of the schedule half-way is taken into account", () => {
  const changed = { ...cronJob({ schedule: "30 * * * *" }, "01:30"), change: "MODIFIED" } as TraceRecord;
  const { groups } = compare([cronJob(), run("01:00"), run("02:00")], [cronJob(), changed]);
  expect(groups[0]?.differences.map(({ absent }) => absent)).toEqual(["notStarted", "notScheduled"]);
});

test("a skipped run keeps what was in its way, also when a later one overtakes it", () => {
  const blocked = decided({ outcome: "skipped", reason: "stillActive", slotMs: ms("01:00"), activeJobs: ["report-0"] });
  const overtaken = decided({ missed: [{ reason: "superseded", count: 1, exact: true, slotsMs: [ms("01:00")] }] });
  const { groups } = compare([cronJob(), run("01:00")], [cronJob(), blocked, overtaken]);
  expect(groups[0]?.differences).toMatchObject([
    { type: "different", b: { outcome: "Skipped", skipped: "stillActive", blockedBy: ["report-0"] } },
  ]);
});

test("runs that ended before the window are excluded, and so are slots that Forbid held back before it", () => {
  const header: TraceRecord = {
    type: "header",
    traceVersion: 1,
    kubernetes: "v1.36.0",
    seed: 1,
    start: at("02:00"),
    end: at("03:00"),
    timeZoneData: "test",
  };
  const heldBack = decided({
    outcome: "skipped",
    reason: "stillActive",
    slotMs: ms("01:30"),
    activeJobs: ["report-0"],
  });
  const overtaken = decided({ missed: [{ reason: "superseded", count: 1, exact: true, slotsMs: [ms("01:00")] }] });
  const records = [
    header,
    cronJob(),
    run("00:30", complete("02:00")),
    overtaken,
    heldBack,
    run("02:15", complete("02:20")),
  ];
  const { groups } = recordRuns(records);
  expect([...groups.values()].flatMap(({ runs }) => [...runs.values()].map(({ slotMs }) => slotMs))).toEqual([
    ms("02:15"),
  ]);
});

test("a run that was held back and started late after all is a run", () => {
  const blocked = decided({ outcome: "skipped", reason: "stillActive", slotMs: ms("01:00"), activeJobs: ["report-0"] });
  const { runs } = [
    ...recordRuns([cronJob(), blocked, run("01:00", complete("01:30"), { time: "01:20" })]).groups.values(),
  ][0]!;
  expect([...runs.values()]).toMatchObject([{ outcome: "Complete", createdMs: ms("01:20"), endMs: ms("01:30") }]);
});

test("the outcome of a Job stays when a history limit deletes it; a deletion before the end is reported", () => {
  const end = run("01:00", complete("01:05"));
  const gone = { ...run("01:00", complete("01:05"), { time: "03:00" }), change: "DELETED" } as TraceRecord;
  const cut = { ...run("02:00", {}, { time: "02:10" }), change: "DELETED" } as TraceRecord;
  const { runs } = [...recordRuns([cronJob(), end, gone, run("02:00"), cut]).groups.values()][0]!;
  expect([...runs.values()].map(({ outcome, endMs }) => [outcome, endMs])).toEqual([
    ["Complete", ms("01:05")],
    ["Deleted", ms("02:10")],
  ]);
});

test("Jobs made by hand are compared by name", () => {
  const byHand = run("01:20", complete("01:25"), { name: "mine", manual: true });
  const { totals } = compare([cronJob(), byHand], [cronJob(), byHand]);
  expect(totals).toMatchObject({ same: 1, onlyA: 0, onlyB: 0 });
});

test("runs beyond the stated bound are not compared, and the output says so", () => {
  const records = [cronJob(), run("01:00"), run("02:00"), run("03:00"), run("04:00")];
  const { totals, untilMs } = compareRuns(recordRuns(records, { maxRuns: 2 }), recordRuns(records));
  expect(untilMs).toBe(ms("03:00"));
  expect(totals).toEqual({ a: 2, b: 2, same: 2, different: 0, onlyA: 0, onlyB: 0 });
});

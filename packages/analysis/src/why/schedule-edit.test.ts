import { type CronJob, type Job, deepFreeze } from "@kubewright/api";
import { expect, test } from "vitest";

import { styleFor } from "../text/style.js";
import { editText } from "./cron-job-text.js";
import { type EditExplanation, explainEdit } from "./schedule-edit.js";

type Spec = Partial<NonNullable<CronJob["spec"]>>;

const ms = (time: string): number => Date.parse(`2026-03-02T${time}Z`);
const template = { spec: { template: { spec: { containers: [{ name: "c", image: "a" }], restartPolicy: "Never" } } } };

function cronJob(spec: Spec, status: CronJob["status"] = {}): CronJob {
  return {
    metadata: { name: "report", namespace: "ns", uid: "u", creationTimestamp: "2026-03-02T07:30:00Z" },
    spec: { schedule: "0 12 * * *", jobTemplate: template, ...spec },
    status,
  };
}

const stored = (spec: Spec = {}, status: CronJob["status"] = { lastScheduleTime: "2026-03-02T08:00:00Z" }): CronJob =>
  cronJob(
    {
      concurrencyPolicy: "Allow",
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
      jobTemplate: {
        spec: { ...template.spec, template: { spec: { ...template.spec.template.spec, dnsPolicy: "ClusterFirst" } } },
      },
      ...spec,
    },
    status,
  );

function edit(from: CronJob | undefined, to: Spec, now = "11:20:00", jobs: readonly Job[] = []): EditExplanation {
  return explainEdit(
    deepFreeze({ ...(from && { stored: from }), changed: cronJob(to), jobs: [...jobs], nowMs: ms(now) }),
  );
}

test("a file that equals the stored object changes nothing, defaults included", () => {
  expect(edit(stored(), {})).toMatchObject({
    change: "none",
    changes: [],
    effects: ["changes nothing the controller acts on"],
  });
});

test("a schedule with a slot since the last run starts nothing by itself: only a timer is set", () => {
  const explained = edit(stored(), { schedule: "0 * * * *" });
  expect(explained.changes).toEqual([{ field: "schedule", before: "0 12 * * *", after: "0 * * * *" }]);
  expect(explained.effects[0]).toBe(
    "does not start a run by itself: a change of schedule or zone only sets a timer; but its slot Mon 2026-03-02 11:00 UTC lies after the last run, so any earlier sync (caused by a Job of it that ends, by another edit or by a restart of the controller) starts report-29540820 at once, 20m late",
  );
  expect(explained.firstRun).toEqual({ atMs: ms("12:00:00.1"), slotMs: ms("12:00:00"), job: "report-29540880" });
  expect([explained.nextBefore?.runsMs[0], explained.nextAfter?.runsMs[0]]).toEqual([ms("12:00:00"), ms("12:00:00")]);
});

test("the old schedule's timer stays, and starts the new schedule's slot early or late", () => {
  const explained = edit(stored({ schedule: "30 * * * *" }, { lastScheduleTime: "2026-03-02T10:30:00Z" }), {
    schedule: "0 * * * *",
  });
  expect(explained.firstRun).toEqual({ atMs: ms("11:30:00.1"), slotMs: ms("11:00:00"), job: "report-29540820" });
  expect(explained.effects[1]).toBe(
    "at Mon 2026-03-02 11:30 UTC (the timer of the old schedule, which stays) starts report-29540820, for the slot Mon 2026-03-02 11:00 UTC, 30m late",
  );
});

test("where the old timer finds nothing to start, the new one counts", () => {
  const explained = edit(stored({ schedule: "30 * * * *" }, { lastScheduleTime: "2026-03-02T10:30:00Z" }), {
    schedule: "45 * * * *",
  });
  // The slot 10:45 is after the last run, so the old timer starts it; a slot from 10:50 on would not be started.
  expect(explained.firstRun?.slotMs).toBe(ms("10:45:00"));
  const later = edit(
    stored({ schedule: "30 * * * *" }, { lastScheduleTime: "2026-03-02T11:30:00Z" }),
    { schedule: "45 * * * *" },
    "11:40:00",
  );
  expect(later.firstRun).toEqual({ atMs: ms("11:45:00.1"), slotMs: ms("11:45:00"), job: "report-29540865" });
});

test("resuming starts the most recent missed slot at once", () => {
  const explained = edit(stored({ schedule: "0 * * * *", suspend: true }), { schedule: "0 * * * *" });
  expect(explained.changes).toEqual([{ field: "suspend", before: "true", after: "false" }]);
  expect(explained.firstRun).toEqual({ atMs: ms("11:20:00"), slotMs: ms("11:00:00"), job: "report-29540820" });
  expect(explained.effects).toEqual([
    "the controller syncs immediately: starts a run at once: report-29540820, for Mon 2026-03-02 11:00 UTC, the most recent of the slots missed since the run of Mon 2026-03-02 08:00 UTC, 20m late",
  ]);
});

test("resuming together with a new schedule only sets a timer", () => {
  const explained = edit(stored({ schedule: "30 * * * *", suspend: true }), { schedule: "0 * * * *" });
  expect(explained.firstRun?.atMs).toBe(ms("12:00:00.1"));
});

test("a change of zone moves the next runs", () => {
  const explained = edit(stored({ timeZone: "Europe/Berlin" }), { timeZone: "America/New_York" });
  expect(explained.nextBefore?.runsMs[0]).toBe(Date.parse("2026-03-03T11:00:00Z"));
  expect(explained.nextAfter?.runsMs[0]).toBe(ms("17:00:00"));
  const text = editText(explained, { style: styleFor(false), width: 100 });
  expect(text).toContain("timeZone: Europe/Berlin → America/New_York");
  expect(text).toContain("Tue 2026-03-03 12:00 +01:00  Mon 2026-03-02 12:00 -05:00");
});

test.each([
  [{ schedule: "0 24 * * *" }, 'spec.schedule: Invalid value: "0 24 * * *": end of range (24) above maximum (23): 24'],
  [{ schedule: "TZ=UTC 0 * * * *" }, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"],
  [
    { timeZone: "berlin" },
    'spec.timeZone: Invalid value: "berlin": unknown time zone berlin (did you mean Europe/Berlin?)',
  ],
] as const)("a spec that the API server would refuse is reported with its message: %j", (spec, message) => {
  const explained = edit(stored(), spec);
  expect(explained.refused).toContain(message);
  expect(explained.effects).toEqual([]);
});

test("a schedule that never fires, and a CronJob that is suspended, start nothing", () => {
  expect(edit(stored(), { schedule: "0 0 31 2 *" }).effects).toEqual([
    "nothing starts any more: the new schedule never fires",
  ]);
  expect(edit(stored(), { schedule: "0 * * * *", suspend: true }).effects).toEqual([
    "nothing starts while it is suspended",
  ]);
});

test("a changed template is reported, and defaults of the API server are not", () => {
  const image = { spec: { template: { spec: { containers: [{ name: "c", image: "b" }], restartPolicy: "Never" } } } };
  expect(edit(stored(), { jobTemplate: image }).changes).toEqual([{ field: "jobTemplate" }]);
});

test("a CronJob that does not exist yet is explained as if created now", () => {
  const explained = edit(undefined, { schedule: "0 * * * *" });
  expect(explained).toMatchObject({
    change: "create",
    effects: ["created now: nothing to do: no slot has come since its creation"],
  });
  expect(explained.nextAfter?.runsMs[0]).toBe(ms("12:00:00"));
  expect(explained.nextBefore).toBeUndefined();
});

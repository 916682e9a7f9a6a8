import type { ReportData, RunRow, TimelineGroup } from "../src/data/index.js";

const HOUR_MS = 3_600_000;
const START_MS = Date.parse("2026-03-02T00:00:00Z");

/** A day of one hourly CronJob. Its fourth run is skipped and its sixth fails. */
export function aReport(name = "report"): ReportData {
  const levels = { peak: [1, 0], last: [1, 0] };
  const runs = Array.from({ length: 24 }, (_, hour): TimelineGroup["rows"][number] => {
    const slotMs = START_MS + hour * HOUR_MS;
    if (hour === 3) return { type: "skipped", slotMs, cause: "stillActive", reason: `${name}-2 still active (Forbid)` };
    const outcome: RunRow["outcome"] = hour === 5 ? "Failed" : "Complete";
    return {
      type: "run",
      name: `${name}-${hour}`,
      uid: `run-${hour}`,
      createdMs: slotMs,
      slotMs,
      startMs: slotMs,
      endMs: slotMs + 20 * 60_000,
      outcome,
      ...(outcome === "Failed" ? { reason: "BackoffLimitExceeded" } : {}),
      succeeded: 1,
      failed: 0,
      pods: [],
      hiddenPods: 0,
    };
  });
  return {
    reportVersion: 1,
    kubernetes: "v1.36",
    seed: 1,
    startMs: START_MS,
    endMs: START_MS + 24 * HOUR_MS,
    timeZoneData: "test",
    groups: [
      {
        kind: "CronJob",
        uid: "cron-job",
        namespace: "default",
        name,
        cronJob: { schedule: "0 * * * *", concurrencyPolicy: "Forbid", active: [] },
        rows: runs,
        hiddenRows: 0,
      },
    ],
    totals: {
      jobs: 23,
      jobsComplete: 22,
      jobsFailed: 1,
      jobsDeleted: 0,
      runsSkipped: 1,
      pods: 0,
      podsSucceeded: 0,
      podsFailed: 0,
      podsStopped: 0,
    },
    concurrency: {
      stepMs: 1_000,
      atMs: [START_MS, START_MS + HOUR_MS],
      pods: levels,
      running: levels,
      waiting: { peak: [0, 0], last: [0, 0] },
      cpuMillis: { peak: [0, 0], last: [0, 0] },
    },
    scenarioEvents: [],
    events: [],
    decisions: [],
    dropped: { events: 0, decisions: 0 },
    objects: {},
  };
}

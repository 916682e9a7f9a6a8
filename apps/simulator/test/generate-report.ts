import { seededRandom } from "@kubewright/clock";
import type { ReportData, RunRow, TimelineGroup } from "@kubewright/timeline/data";

import { Concurrency } from "../../../packages/analysis/src/html-report/concurrency.js";

const MINUTE_MS = 60_000;

/** Returns a report of hourly CronJobs with this number of bars: half of them runs, half of them pods. */
export function generateReport(bars: number, cronJobs = 40): ReportData {
  const random = seededRandom(7);
  const startMs = Date.parse("2026-01-01T00:00:00Z");
  const runsEach = Math.round(bars / 2 / cronJobs);
  const groups: TimelineGroup[] = [];
  const changes: { atMs: number; by: number }[] = [];
  for (let index = 0; index < cronJobs; index++) {
    const name = `report-${String(index + 1).padStart(2, "0")}`;
    const rows: TimelineGroup["rows"] = [];
    for (let run = 0; run < runsEach; run++) {
      const slotMs = startMs + run * 60 * MINUTE_MS + (index % 3) * 5 * MINUTE_MS;
      if (random.next() < 0.01) {
        rows.push({
          type: "skipped",
          slotMs,
          cause: "stillActive",
          reason: `${name}-${run - 1} still active (Forbid)`,
        });
        continue;
      }
      const endMs = slotMs + Math.round((2 + 40 * random.next()) * MINUTE_MS);
      rows.push(finishedRun(`${name}-${run}`, slotMs, endMs, random.next() < 0.04));
      changes.push({ atMs: slotMs, by: 1 }, { atMs: endMs, by: -1 });
    }
    const cronJob = { schedule: `${(index % 3) * 5} * * * *`, timeZone: "Europe/Berlin", active: [] };
    groups.push({
      kind: "CronJob",
      uid: name,
      namespace: index % 2 === 0 ? "billing" : "shop",
      name,
      cronJob,
      rows,
      hiddenRows: 0,
    });
  }
  const concurrency = new Concurrency();
  changes.sort((a, b) => a.atMs - b.atMs);
  for (const { atMs, by } of changes) {
    concurrency.add(atMs, "running", by);
    concurrency.add(atMs, "cpuMillis", by * 500);
  }
  return {
    reportVersion: 1,
    kubernetes: "v1.36",
    seed: 7,
    startMs,
    endMs: startMs + runsEach * 60 * MINUTE_MS,
    timeZoneData: "test",
    groups,
    totals: {
      jobs: 0,
      jobsComplete: 0,
      jobsFailed: 0,
      jobsDeleted: 0,
      runsSkipped: 0,
      pods: 0,
      podsSucceeded: 0,
      podsFailed: 0,
      podsStopped: 0,
    },
    concurrency: concurrency.steps(),
    scenarioEvents: [],
    events: [],
    decisions: [],
    dropped: { events: 0, decisions: 0 },
    objects: {},
  };
}

function finishedRun(name: string, slotMs: number, endMs: number, isFailed: boolean): RunRow {
  return {
    type: "run",
    name,
    uid: name,
    createdMs: slotMs,
    startMs: slotMs,
    slotMs,
    endMs,
    outcome: isFailed ? "Failed" : "Complete",
    ...(isFailed ? { reason: "BackoffLimitExceeded" } : {}),
    succeeded: isFailed ? 0 : 1,
    failed: isFailed ? 1 : 0,
    pods: [
      {
        name: `${name}-pod`,
        uid: `${name}-pod`,
        createdMs: slotMs,
        startMs: slotMs + 1_000,
        endMs,
        outcome: isFailed ? "Failed" : "Succeeded",
        exitCode: isFailed ? 1 : 0,
      },
    ],
    hiddenPods: 0,
  };
}

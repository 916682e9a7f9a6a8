import { rowTime, type RunRow, type TimelineGroup, type TimelineRow } from "@kubewright/timeline/data";

import { Durations } from "../digest/durations.js";
import { lateMs, durationMsOf } from "../text/run-row-text.js";
import type { TimelineListener } from "../timeline/bounded-rows.js";
import { type Incident, isIntentionalSkip, isSkip, incidentKey, describeIncident, severityOf } from "./incident.js";

/** How often an incident occurred in one future, and its worst occurrence. */
export interface IncidentCount {
  readonly incident: Incident;
  count: number;
  /** Of the worst occurrence: milliseconds for lateness, otherwise 1. */
  severity: number;
  /** Time of the first worst occurrence: the slot, or the creation of the run. */
  atMs: number;
  readonly text: string;
}

/** The results of one future for a CronJob, or a Job without a CronJob. Plain data. */
export interface GroupFuture {
  readonly kind: TimelineGroup["kind"];
  readonly namespace: string;
  readonly name: string;
  /** Slots that were not skipped intentionally; 1 for a Job. */
  readonly slots: number;
  readonly runs: number;
  /** Incidents that occurred, by key. */
  readonly incidents: Readonly<Record<string, IncidentCount>>;
  /** Pairs of seconds and count. */
  readonly durations: readonly (readonly [number, number])[];
  readonly lateness: readonly (readonly [number, number])[];
}

interface GroupCounts {
  readonly group: TimelineGroup;
  slots: number;
  runs: number;
  active: number;
  latestMs: number;
  longestMs: number;
  readonly incidents: Record<string, IncidentCount>;
  readonly durations: Durations;
  readonly lateness: Durations;
  /** Runs that the end of the window cut off. */
  readonly unfinished: RunRow[];
}

/** Counts the incidents of one future as they occur. No run is stored. */
export class IncidentCounter implements TimelineListener {
  readonly #incidents: readonly Incident[];
  readonly #groups = new Map<TimelineGroup, GroupCounts>();

  /** @param incidents - Incidents to count, besides the reasons of skipped runs. */
  constructor(incidents: readonly Incident[]) {
    this.#incidents = incidents;
  }

  groupAdded(group: TimelineGroup): void {
    this.#groups.set(group, {
      group,
      slots: 0,
      runs: 0,
      active: 0,
      latestMs: Number.NEGATIVE_INFINITY,
      longestMs: 0,
      incidents: {},
      durations: new Durations(),
      lateness: new Durations(),
      unfinished: [],
    });
  }

  rowAdded(group: TimelineGroup, row: TimelineRow): void {
    const counted = this.#groups.get(group)!;
    counted.latestMs = Math.max(counted.latestMs, rowTime(row));
    if (row.type === "skipped") return;
    counted.runs++;
    counted.slots++;
    counted.active++;
    if (counted.active > 1) this.#runIncident(counted, row, "overlap");
  }

  runDeleted(group: TimelineGroup): void {
    this.#groups.get(group)!.active--;
  }

  rowSettled(group: TimelineGroup, row: TimelineRow): void {
    const counted = this.#groups.get(group)!;
    if (row.type === "skipped") {
      if (isIntentionalSkip(row)) return;
      const count = 1 + (row.unlisted ?? 0);
      counted.slots += count;
      for (const incident of [...this.#incidents, { kind: "skipped", cause: row.cause } as const])
        if (isSkip(row, incident))
          recordIncident(counted, incident, { count, severity: 1, atMs: row.slotMs, text: row.reason });
      return;
    }
    if (row.slotMs !== undefined) counted.lateness.add(lateMs(row));
    const took = durationMsOf(row);
    if (row.outcome === "Running" || row.outcome === "Suspended") counted.unfinished.push(row);
    else {
      if (row.outcome !== "Deleted") counted.active--;
      if (took !== undefined && row.outcome !== "Deleted") {
        counted.durations.add(took);
        counted.longestMs = Math.max(counted.longestMs, took);
      }
    }
    for (const incident of this.#incidents) {
      const severity = severityOf(row, incident);
      if (severity > 0)
        recordIncident(counted, incident, {
          count: 1,
          severity,
          atMs: rowTime(row),
          text: describeIncident(row, incident),
        });
    }
  }

  /** @param endMs - End of the window. */
  groups(endMs: number): GroupFuture[] {
    return [...this.#groups.values()].map((counted) => {
      for (const run of counted.unfinished)
        if (isOverdue(run, counted, endMs)) this.#runIncident(counted, run, "never-finished");
      const { group, slots, runs, incidents, durations, lateness } = counted;
      const { kind, namespace, name } = group;
      return { kind, namespace, name, slots, runs, incidents, durations: durations.counts, lateness: lateness.counts };
    });
  }

  #runIncident(counted: GroupCounts, run: RunRow, kind: Incident["kind"]): void {
    const incident = this.#incidents.find((each) => each.kind === kind);
    if (incident !== undefined)
      recordIncident(counted, incident, {
        count: 1,
        severity: 1,
        atMs: rowTime(run),
        text: describeIncident(run, incident),
      });
  }
}

/**
 * Whether a run counts as never finished. A Job counts when it did not finish. A run of a CronJob counts when a later
 * slot overtook it and it took longer than any other run.
 */
function isOverdue(run: RunRow, { group, latestMs, longestMs }: GroupCounts, endMs: number): boolean {
  if (run.outcome === "Suspended") return false;
  if (group.kind === "Job") return true;
  return latestMs > rowTime(run) && endMs - (run.startMs ?? run.createdMs) > longestMs;
}

function recordIncident({ incidents }: GroupCounts, incident: Incident, found: Omit<IncidentCount, "incident">): void {
  const key = incidentKey(incident);
  const before = incidents[key];
  if (before === undefined) incidents[key] = { incident, ...found };
  else if (found.severity > before.severity) incidents[key] = { ...found, incident, count: before.count + found.count };
  else before.count += found.count;
}

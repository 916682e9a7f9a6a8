import { rowTime, type RunRow, type TimelineGroup, type TimelineRow } from "@kubewright/timeline/data";

import { Durations } from "../digest/durations.js";
import { lateMs, durationMsOf } from "../run-row-text.js";
import type { TimelineListener } from "../timeline/bounded-rows.js";
import { type Incident, isIntentionalSkip, isSkip, incidentKey, describeIncident, severityOf } from "./incident.js";

/** How often a mishap came up in one future, and how bad it was at worst. */
export interface IncidentCount {
  readonly incident: Incident;
  count: number;
  /** The worst: milliseconds for lateness, else 1. */
  severity: number;
  /** Of the first of the worst: the slot, or when the run was created. */
  atMs: number;
  readonly text: string;
}

/** What one future made of a CronJob, or a Job of its own. Plain data. */
export interface GroupFuture {
  readonly kind: TimelineGroup["kind"];
  readonly namespace: string;
  readonly name: string;
  /** Slots that were not called off; of a Job, 1. */
  readonly slots: number;
  readonly runs: number;
  /** Those that came up, by key. */
  readonly incidents: Readonly<Record<string, IncidentCount>>;
  /** Seconds, and how often. */
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

/** Counts what goes wrong in one future, as it happens: no run is kept. */
export class IncidentCounter implements TimelineListener {
  readonly #incidents: readonly Incident[];
  readonly #groups = new Map<TimelineGroup, GroupCounts>();

  /** @incidents incidents - What to count beside the reasons for which runs are skipped. */
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

  /** @param endMs - Where the window ended. */
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

/** A Job that has not finished; of a CronJob's, one that a later slot has overtaken and that no other took as long as. */
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

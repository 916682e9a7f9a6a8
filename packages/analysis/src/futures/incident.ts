import type { RunRow, SkippedRow } from "@kubewright/timeline/data";

import { formatDuration } from "../time/duration.js";
import { SKIP_REASON_TEXTS, type SkipReason, lateMs, lateText } from "../text/run-row-text.js";

/** Kinds of incidents of a run, with the names of `--fail-on`. */
export const INCIDENT_KINDS = [
  "skipped",
  "missed",
  "failed",
  "late",
  "overlap",
  "unschedulable",
  "never-finished",
] as const;

export type IncidentKind = (typeof INCIDENT_KINDS)[number];

/** A kind of incident to count; for lateness, only above a bound. */
export interface Incident {
  readonly kind: IncidentKind;
  /** For `skipped`: only for this reason. */
  readonly cause?: SkipReason;
  /** For `late`: only above this number of milliseconds. Default 0. */
  readonly overMs?: number;
}

/** Returns `skipped`, `skipped: the last run is still active (Forbid)`, or `late>10m`. */
export function incidentText({ kind, cause, overMs = 0 }: Incident): string {
  if (cause !== undefined) return `${kind}: ${SKIP_REASON_TEXTS[cause]}`;
  return overMs === 0 ? kind : `${kind}>${formatDuration(overMs)}`;
}

/** Returns a key that is equal only for equal incidents. */
export function incidentKey({ kind, cause, overMs = 0 }: Incident): string {
  return `${kind}/${cause ?? ""}/${overMs}`;
}

/**
 * Whether a slot was skipped on purpose, because the CronJob was suspended or being deleted. Such slots do not count.
 */
export function isIntentionalSkip({ cause }: Pick<SkippedRow, "cause">): boolean {
  return cause === "suspended" || cause === "beingDeleted";
}

/** Whether a skipped slot counts for the incident. Slots that were skipped intentionally must be excluded before. */
export function isSkip({ cause }: SkippedRow, incident: Incident): boolean {
  if (incident.kind === "missed") return cause !== "stillActive";
  return incident.kind === "skipped" && (incident.cause === undefined || incident.cause === cause);
}

/**
 * Returns the severity of an incident of a finished run: 0 when it did not occur, milliseconds for lateness, otherwise
 * 1.
 */
export function severityOf(run: RunRow, { kind, overMs = 0 }: Incident): number {
  if (kind === "failed") return run.outcome === "Failed" ? 1 : 0;
  if (kind === "unschedulable") return run.unschedulable === undefined ? 0 : 1;
  if (kind !== "late") return 0;
  const late = lateMs(run);
  return late > overMs ? late : 0;
}

/** Describes the incident of a run in one line. */
export function describeIncident(run: RunRow, { kind }: Incident): string {
  switch (kind) {
    case "failed":
      return `${run.name} failed: ${[run.reason ?? "unknown", run.message].filter((text) => text).join(": ")}`;
    case "late":
      return `${run.name} ${lateText(run)}`;
    case "unschedulable":
      return `${run.name} waited for a node: ${run.unschedulable}`;
    case "overlap":
      return `${run.name} began while another was active`;
    case "never-finished":
      return `${run.name} had not finished at the end`;
    default:
      return run.name;
  }
}

import type { RunRow, SkippedRow } from "@kubewright/timeline/data";

import { formatDuration } from "../duration.js";
import { SKIP_REASON_TEXTS, type SkipReason, lateMs, lateText } from "../run-row-text.js";

/** What can go wrong with a run, by the names of `--fail-on`. */
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

/** A kind of mishap that is counted; of lateness, only what exceeds a bound. */
export interface Incident {
  readonly kind: IncidentKind;
  /** Of `skipped`: only for this reason. */
  readonly cause?: SkipReason;
  /** Of `late`: by more than so many milliseconds. Default 0. */
  readonly overMs?: number;
}

/** `skipped`, `skipped (the last run is still active (Forbid))`, `late>10m`. */
export function incidentText({ kind, cause, overMs = 0 }: Incident): string {
  if (cause !== undefined) return `${kind}: ${SKIP_REASON_TEXTS[cause]}`;
  return overMs === 0 ? kind : `${kind}>${formatDuration(overMs)}`;
}

/** The same for equal mishaps, and no others. */
export function incidentKey({ kind, cause, overMs = 0 }: Incident): string {
  return `${kind}/${cause ?? ""}/${overMs}`;
}

/** Slots that somebody has called off are no runs that did not start. */
export function isIntentionalSkip({ cause }: Pick<SkippedRow, "cause">): boolean {
  return cause === "suspended" || cause === "beingDeleted";
}

/** Whether a slot that was not called off, and did not start, counts. */
export function isSkip({ cause }: SkippedRow, incident: Incident): boolean {
  if (incident.kind === "missed") return cause !== "stillActive";
  return incident.kind === "skipped" && (incident.cause === undefined || incident.cause === cause);
}

/** How bad a run that is over is: 0 when the mishap did not befall it, milliseconds for lateness, else 1. */
export function severityOf(run: RunRow, { kind, overMs = 0 }: Incident): number {
  if (kind === "failed") return run.outcome === "Failed" ? 1 : 0;
  if (kind === "unschedulable") return run.unschedulable === undefined ? 0 : 1;
  if (kind !== "late") return 0;
  const late = lateMs(run);
  return late > overMs ? late : 0;
}

/** One line for people: what befell a run. */
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

import type { RunRow, SkippedRow } from "@kubewright/timeline/data";

import { formatDuration } from "../duration.js";
import { SKIP_WORDS, type SkipReason, lateMs, lateText } from "../run-words.js";

/** What can go wrong with a run, by the names of `--fail-on`. */
export const MISHAPS = ["skipped", "missed", "failed", "late", "overlap", "unschedulable", "never-finished"] as const;

export type MishapKind = (typeof MISHAPS)[number];

/** A kind of mishap that is counted; of lateness, only what exceeds a bound. */
export interface Mishap {
  readonly kind: MishapKind;
  /** Of `skipped`: only for this reason. */
  readonly cause?: SkipReason;
  /** Of `late`: by more than so many milliseconds. Default 0. */
  readonly overMs?: number;
}

/** `skipped`, `skipped (the last run is still active (Forbid))`, `late>10m`. */
export function mishapText({ kind, cause, overMs = 0 }: Mishap): string {
  if (cause !== undefined) return `${kind}: ${SKIP_WORDS[cause]}`;
  return overMs === 0 ? kind : `${kind}>${formatDuration(overMs)}`;
}

/** The same for equal mishaps, and no others. */
export function mishapKey({ kind, cause, overMs = 0 }: Mishap): string {
  return `${kind}/${cause ?? ""}/${overMs}`;
}

/** Slots that somebody has called off are no runs that did not start. */
export function isCalledOff({ cause }: Pick<SkippedRow, "cause">): boolean {
  return cause === "suspended" || cause === "beingDeleted";
}

/** Whether a slot that was not called off, and did not start, counts. */
export function isSkip({ cause }: SkippedRow, mishap: Mishap): boolean {
  if (mishap.kind === "missed") return cause !== "stillActive";
  return mishap.kind === "skipped" && (mishap.cause === undefined || mishap.cause === cause);
}

/** How bad a run that is over is: 0 when the mishap did not befall it, milliseconds for lateness, else 1. */
export function severityOf(run: RunRow, { kind, overMs = 0 }: Mishap): number {
  if (kind === "failed") return run.outcome === "Failed" ? 1 : 0;
  if (kind === "unschedulable") return run.unschedulable === undefined ? 0 : 1;
  if (kind !== "late") return 0;
  const late = lateMs(run);
  return late > overMs ? late : 0;
}

/** One line for people: what befell a run. */
export function mishapOf(run: RunRow, { kind }: Mishap): string {
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

import type { CronJobState } from "./cron-job-state.js";
import type { SkipReason } from "./missed-slots.js";

/** Everything one CronJob, or one Job of its own, did: what the terminal and the page draw. */
export interface TimelineGroup {
  readonly kind: "CronJob" | "Job";
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  cronJob?: CronJobState;
  /** Runs and skipped slots in order of time. Bounded by `maxRows`; `hiddenRows` counts the rest. */
  readonly rows: TimelineRow[];
  hiddenRows: number;
}

export type TimelineRow = RunRow | SkippedRow;

export interface RunRow {
  readonly type: "run";
  readonly name: string;
  readonly uid: string;
  readonly createdMs: number;
  /** The slot, for a run of a CronJob. */
  readonly slotMs?: number;
  startMs?: number;
  endMs?: number;
  outcome: "Running" | "Complete" | "Failed" | "Suspended" | "Deleted";
  reason?: string;
  succeeded: number;
  failed: number;
  failedIndexes?: string;
  /** What the condition that failed it says. */
  message?: string;
  readonly pods: PodBar[];
  hiddenPods: number;
  /** When a Job of its own that had ended was removed. */
  removedMs?: number;
  /** What the scheduler said of a pod that fit on no node. */
  unschedulable?: string;
  /** Of one that was deleted: the Job that Replace made in its place. */
  replacedBy?: string;
}

export interface PodBar {
  readonly name: string;
  readonly uid: string;
  readonly index?: number;
  readonly createdMs: number;
  startMs?: number;
  endMs?: number;
  outcome: "Pending" | "Running" | "Succeeded" | "Failed";
  /** It failed because it was deleted while it ran: by Replace, a success policy, or whoever wanted it gone. */
  stopped?: true;
  exitCode?: number;
  node?: string;
  reason?: string;
  /** What the scheduler said when it fit on no node. */
  unschedulable?: string;
}

/** A run that did not start when it was due. */
export interface SkippedRow {
  readonly type: "skipped";
  readonly slotMs: number;
  readonly cause: SkipReason;
  /** One line for people. */
  readonly reason: string;
  /** Further runs of the same reason after this one, of which only the number is known. */
  readonly unlisted?: number;
}

/** The slot a row stands for, or when its Job was created. */
export function rowTime(row: TimelineRow): number {
  return row.type === "skipped" ? row.slotMs : (row.slotMs ?? row.createdMs);
}

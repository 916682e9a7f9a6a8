import type { CronJobState } from "./cron-job-state.js";
import type { SkipReason } from "./missed-slots.js";

/** All runs of one CronJob, or of one standalone Job, as the terminal and the page draw them. */
export interface TimelineGroup {
  readonly kind: "CronJob" | "Job";
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  cronJob?: CronJobState;
  /** The schedule in words: `every hour, on the hour`. Absent for a schedule without short words. */
  scheduleText?: string;
  /** Runs and skipped slots in chronological order. Bounded by `maxRows`; `hiddenRows` counts the rest. */
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
  /** Message of the condition `Failed`. */
  message?: string;
  readonly pods: PodBar[];
  hiddenPods: number;
  /** Deletion time of a finished standalone Job. */
  removedMs?: number;
  /** The scheduler's message about a pod that fits on no node. */
  unschedulable?: string;
  /** For a deleted run: the Job that the `Replace` policy created instead. */
  replacedBy?: string;
  /** Why the API server last refused to create a pod of the run. */
  refusal?: CreationRefusal;
}

/** Why the API server refuses to create pods of a run, or the Job of a slot. */
export interface CreationRefusal {
  /** The object that refuses them: `ResourceQuota shop/compute`. Absent when the API server names none. */
  readonly object?: string;
  /** The API server's reason, without the name of the new object. */
  readonly text: string;
}

export interface PodBar {
  readonly name: string;
  readonly uid: string;
  readonly index?: number;
  readonly createdMs: number;
  startMs?: number;
  endMs?: number;
  outcome: "Pending" | "Running" | "Succeeded" | "Failed";
  /** The pod failed because it was deleted while it ran: by `Replace`, a success policy, or a user. */
  stopped?: true;
  exitCode?: number;
  node?: string;
  reason?: string;
  /** The scheduler's message when the pod fits on no node. */
  unschedulable?: string;
}

/** A run that did not start when it was due. */
export interface SkippedRow {
  readonly type: "skipped";
  readonly slotMs: number;
  readonly cause: SkipReason;
  /** One readable line. */
  readonly reason: string;
  /** Number of further skipped runs with the same reason, whose slots are unknown. */
  readonly unlisted?: number;
  /** For the cause `refused`: why the API server refused to create the Job. */
  readonly refusal?: CreationRefusal;
}

/** Returns whether the API server refused every pod of a run so far. */
export function isWithoutPods({ refusal, pods, hiddenPods }: RunRow): boolean {
  return refusal !== undefined && pods.length + hiddenPods === 0;
}

/** Returns the slot of a row, or the creation time of its Job. */
export function rowTime(row: TimelineRow): number {
  return row.type === "skipped" ? row.slotMs : (row.slotMs ?? row.createdMs);
}

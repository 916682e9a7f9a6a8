import { type PodBar, type RunRow, type SkippedRow, type TimelineGroup, isWithoutPods } from "../data/rows.js";

/** The look of a bar: each has its own color and shape. */
export type Look = "complete" | "failed" | "running" | "waiting" | "stopped" | "skipped";

/** Painting order: the most important look comes last, on top. */
export const LOOKS: readonly Look[] = ["waiting", "stopped", "complete", "running", "failed", "skipped"];

export const LOOK_NAMES: Readonly<Record<Look, string>> = {
  complete: "Complete",
  failed: "Failed",
  running: "Running",
  waiting: "Waiting",
  stopped: "Stopped",
  skipped: "Skipped",
};

/** An item on the timeline: a run, one of its pods, or a placeholder ("ghost") for a skipped run. */
export type Item = RunItem | PodItem | GhostItem;

interface ItemBase {
  /** Identifies the item in links and after new data arrives. */
  readonly id: string;
  readonly group: TimelineGroup;
  readonly startMs: number;
  readonly endMs: number;
  readonly look: Look;
}

export interface RunItem extends ItemBase {
  readonly type: "run";
  readonly row: RunRow;
}

export interface PodItem extends ItemBase {
  readonly type: "pod";
  readonly row: RunRow;
  readonly pod: PodBar;
}

export interface GhostItem extends ItemBase {
  readonly type: "ghost";
  readonly row: SkippedRow;
}

export function groupId({ kind, namespace, name }: Pick<TimelineGroup, "kind" | "namespace" | "name">): string {
  return `${kind}/${namespace}/${name}`;
}

/** @param nowMs - End of bars that have no end yet. */
export function runItem(group: TimelineGroup, row: RunRow, nowMs: number): RunItem {
  const startMs = row.startMs === undefined ? row.createdMs : Math.max(row.startMs, row.createdMs);
  return {
    type: "run",
    id: row.uid,
    group,
    row,
    startMs,
    endMs: Math.max(startMs, row.endMs ?? nowMs),
    look: runLook(row),
  };
}

export function podItem(group: TimelineGroup, row: RunRow, pod: PodBar, nowMs: number): PodItem {
  const endMs = Math.max(pod.createdMs, pod.endMs ?? nowMs);
  return { type: "pod", id: pod.uid, group, row, pod, startMs: pod.createdMs, endMs, look: podLook(pod) };
}

/** @param endMs - End of a run of usual duration. */
export function ghostItem(group: TimelineGroup, row: SkippedRow, endMs: number): GhostItem {
  const id = `${groupId(group)}@${row.slotMs}`;
  return { type: "ghost", id, group, row, startMs: row.slotMs, endMs: Math.max(row.slotMs, endMs), look: "skipped" };
}

/**
 * Returns why no pod of a run exists, or why none runs: `no pod created: exceeded quota: …`. Returns `undefined` when a
 * pod runs or ran.
 */
export function hindrance(row: RunRow): string | undefined {
  const { refusal, unschedulable, pods, hiddenPods } = row;
  if (isWithoutPods(row)) return `no pod created: ${refusal!.text}`;
  const hasStarted = hiddenPods > 0 || pods.some(({ startMs }) => startMs !== undefined);
  return unschedulable === undefined || hasStarted ? undefined : `no pod scheduled: ${unschedulable}`;
}

function runLook(row: RunRow): Look {
  const { outcome } = row;
  switch (outcome) {
    case "Complete":
      return "complete";
    case "Failed":
      return "failed";
    case "Running":
      return hindrance(row) === undefined ? "running" : "waiting";
    case "Suspended":
    case "Deleted":
      return "stopped";
    default:
      return outcome satisfies never;
  }
}

function podLook({ outcome, endMs, stopped }: PodBar): Look {
  switch (outcome) {
    case "Succeeded":
      return "complete";
    case "Failed":
      return stopped ? "stopped" : "failed";
    case "Running":
      return endMs === undefined ? "running" : "stopped";
    case "Pending":
      return endMs === undefined ? "waiting" : "stopped";
    default:
      return outcome satisfies never;
  }
}

import type { PodBar, RunRow } from "@kubewright/timeline/data";

import type { ObjectRecord } from "../run/trace.js";
import type { BoundedRows } from "./bounded-rows.js";
import type { RecordTimes } from "./record-times.js";
import type { TimelineTotals } from "./totals.js";

type PodRecord = Extract<ObjectRecord, { kind: "Pod" }>;

interface FollowedBar {
  readonly bar: PodBar;
  /** Start time of the last record. Each change repeats it. */
  startedAt: string | undefined;
  ended: boolean;
}

/** Follows pods from their creation to their removal. */
export class PodBars {
  /** By UID; removed with the pod. */
  readonly #bars = new Map<string, FollowedBar>();

  constructor(
    readonly times: RecordTimes,
    readonly rows: BoundedRows,
    readonly totals: TimelineTotals,
  ) {}

  /** Records a change of a pod. @param run - Run that the pod belongs to. */
  changed(record: PodRecord, run: RunRow | undefined): void {
    const { state, uid } = record;
    let entry = this.#bars.get(uid);
    // Pods that ended before the window are not part of the timeline.
    if (entry === undefined && (record.change === "DELETED" || this.times.endedBeforeWindow(endOf(record)))) return;
    entry ??= this.#add(record, run);
    const { bar } = entry;
    if (state.startedAt !== undefined && state.startedAt !== entry.startedAt) {
      entry.startedAt = state.startedAt;
      bar.startMs = Date.parse(state.startedAt);
    }
    if (state.node !== undefined) bar.node = state.node;
    if (state.reason !== undefined) bar.reason = state.reason;
    if (state.unschedulable !== undefined && state.unschedulable !== bar.unschedulable) {
      bar.unschedulable = state.unschedulable;
      if (run !== undefined) run.unschedulable = state.unschedulable;
    }
    if (!entry.ended && (state.phase === "Succeeded" || state.phase === "Failed")) {
      entry.ended = true;
      bar.outcome = state.phase;
      bar.endMs = Date.parse(state.finishedAt ?? record.at);
      if (state.exitCode !== undefined) bar.exitCode = state.exitCode;
      if (state.phase === "Succeeded") this.totals.podsSucceeded++;
      else if (state.deleting) {
        bar.stopped = true;
        this.totals.podsStopped++;
      } else this.totals.podsFailed++;
    } else if (!entry.ended) {
      bar.outcome = state.phase === "Running" ? "Running" : "Pending";
    }
    if (record.change !== "DELETED") return;
    if (!entry.ended) bar.endMs = this.times.msOf(record.at);
    this.#bars.delete(uid);
  }

  #add(record: PodRecord, run: RunRow | undefined): FollowedBar {
    this.totals.pods++;
    const { name, uid, state } = record;
    const bar: PodBar = {
      name,
      uid,
      ...(state.index === undefined ? {} : { index: state.index }),
      createdMs: this.times.msOf(record.createdAt ?? record.at),
      outcome: "Pending",
    };
    if (run !== undefined) this.rows.addPod(run, bar);
    const entry: FollowedBar = { bar, startedAt: undefined, ended: false };
    this.#bars.set(uid, entry);
    return entry;
  }
}

/**
 * Returns the end of a pod. For a pod that ended without containers only its creation is known, if it existed before.
 */
function endOf({ state, createdAt }: PodRecord): string | undefined {
  return state.finishedAt ?? (state.phase === "Succeeded" || state.phase === "Failed" ? createdAt : undefined);
}

import { objectKey, splitObjectKey } from "@kubewright/api";
import type { RunRow, TimelineGroup } from "@kubewright/timeline/data";

import type { JobDecisionSummary, ObjectRecord } from "../run/trace.js";
import type { DeletedRuns } from "./deleted-runs.js";
import type { BoundedRows } from "./bounded-rows.js";
import type { RecordTimes } from "./record-times.js";
import { refusalOf } from "./refusal-of.js";
import type { TimelineTotals } from "./totals.js";

export type JobRecord = Extract<ObjectRecord, { kind: "Job" }>;

interface FollowedRun {
  readonly group: TimelineGroup;
  readonly run: RunRow;
  /** Start time of the last record. Each change repeats it. */
  startTime: string | undefined;
  ended: boolean;
}

/** Follows Jobs from their creation to their removal. */
export class RunRows {
  /** By UID. Entries are removed with the Job, so that a long run stores only existing Jobs. */
  readonly #runs = new Map<string, FollowedRun>();

  /** @param groupOf - Returns the group for the row of a new Job. */
  constructor(
    readonly times: RecordTimes,
    readonly rows: BoundedRows,
    readonly totals: TimelineTotals,
    readonly deleted: DeletedRuns,
    readonly groupOf: (record: JobRecord) => TimelineGroup,
  ) {}

  /** Returns the row of an existing Job. */
  find(uid: string): RunRow | undefined {
    return this.#runs.get(uid)?.run;
  }

  changed(record: JobRecord): void {
    const { state, uid, owner } = record;
    let known = this.#runs.get(uid);
    // Jobs that ended before the window are not part of the timeline.
    if (known === undefined && this.times.endedBeforeWindow(state.outcome?.at)) return;
    known ??= this.#add(record);
    const { group, run } = known;
    if (state.startTime !== undefined && state.startTime !== known.startTime) {
      known.startTime = state.startTime;
      run.startMs = Date.parse(state.startTime);
    }
    run.succeeded = state.succeeded;
    run.failed = state.failed;
    if (state.failedIndexes !== undefined) run.failedIndexes = state.failedIndexes;
    if (state.outcome !== undefined && !known.ended) {
      known.ended = true;
      run.outcome = state.outcome.type;
      run.endMs = Date.parse(state.outcome.at);
      if (state.outcome.reason !== undefined) run.reason = state.outcome.reason;
      if (run.outcome === "Failed" && state.outcome.message !== undefined) run.message = state.outcome.message;
      if (run.outcome === "Complete") this.totals.jobsComplete++;
      else this.totals.jobsFailed++;
      this.rows.settle(group, run);
    } else if (!known.ended) {
      run.outcome = state.suspended ? "Suspended" : "Running";
    }
    if (record.change !== "DELETED") return;
    if (!known.ended) {
      this.totals.jobsDeleted++;
      run.outcome = "Deleted";
      run.endMs = this.times.msOf(record.at);
      this.rows.runDeleted(group);
      const { namespace } = record;
      this.deleted.deleted(
        owner?.kind === "CronJob" ? objectKey({ namespace, name: owner.name }) : undefined,
        group,
        run,
      );
    } else if (owner === undefined) run.removedMs = this.times.msOf(record.at);
    this.#runs.delete(uid);
  }

  /** Records why the API server refused a pod of a run. The controller retries with the same reason. */
  decided({ uid, key, error, creating }: JobDecisionSummary): void {
    if (error === undefined || creating === undefined) return;
    const run = this.find(uid);
    if (run === undefined || (run.refusal !== undefined && error.endsWith(run.refusal.text))) return;
    const refusal = refusalOf(error, splitObjectKey(key).namespace);
    if (refusal !== undefined) run.refusal = refusal;
  }

  /** Settles unfinished runs at the end of the window. */
  ended(): void {
    for (const { group, run, ended } of this.#runs.values()) if (!ended) this.rows.settle(group, run);
  }

  #add(record: JobRecord): FollowedRun {
    this.totals.jobs++;
    const { name, uid, state } = record;
    const run: RunRow = {
      type: "run",
      name,
      uid,
      createdMs: this.times.msOf(record.createdAt ?? record.at),
      ...(state.scheduledFor === undefined ? {} : { slotMs: Date.parse(state.scheduledFor) }),
      outcome: "Running",
      succeeded: 0,
      failed: 0,
      pods: [],
      hiddenPods: 0,
    };
    const group = this.groupOf(record);
    this.rows.addRow(group, run);
    const entry: FollowedRun = { group, run, startTime: undefined, ended: false };
    this.#runs.set(uid, entry);
    return entry;
  }
}

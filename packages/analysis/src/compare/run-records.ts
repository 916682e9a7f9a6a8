import { splitObjectKey } from "@kubewright/api";
import type { CronJobDecision, MissReason } from "@kubewright/cronjob";

import { type SkipReason, heldBackReason, replacedText } from "../text/run-row-text.js";
import type { CronJobState, JobDecisionSummary, ObjectRecord, TraceRecord } from "../run/trace.js";

/** The outcome of one slot of a CronJob, or of a Job without a CronJob. */
export interface RunRecord {
  /** The slot; for a Job without a slot, its creation time. */
  readonly slotMs: number;
  readonly job?: string;
  readonly outcome: "Complete" | "Failed" | "Running" | "Suspended" | "Deleted" | "Skipped";
  /** Reason of the failure or deletion. */
  readonly reason?: string;
  /** Reason of the skip. */
  readonly skipped?: SkipReason;
  /** Jobs that blocked a skipped run. */
  readonly blockedBy?: readonly string[];
  readonly createdMs?: number;
  readonly startMs?: number;
  readonly endMs?: number;
  /** Number of failed pods. */
  readonly failedPods: number;
  /** How often the API server refused the Job's status. Absent: never. */
  readonly refusedStatuses?: number;
}

/** A CronJob with its runs, or a Job without a CronJob. */
export interface RunRecordGroup {
  readonly kind: "CronJob" | "Job";
  readonly namespace: string;
  readonly name: string;
  /** The CronJob's states, with the start time of each. */
  readonly states: { readonly fromMs: number; readonly state: CronJobState }[];
  /** By slot; by name for a Job without a slot. */
  readonly runs: Map<string, RunRecord>;
  /** Key of the slot that Forbid currently holds back. */
  heldBack?: string;
  /** Keys of runs that were deleted since the last decision about the CronJob. */
  readonly deleted: string[];
  /** The Jobs that the last Replace deleted, and the Job that replaced them. */
  replaced?: { readonly by: string; readonly jobs: readonly string[] };
}

export interface RunRecordsOptions {
  /** Maximum number of runs of all groups. Default 100,000. */
  readonly maxRuns?: number;
}

const MAX_RUNS = 100_000;

/** Reduces trace records to one entry per run, for the comparison of two simulations. */
export class RunRecords {
  readonly groups = new Map<string, RunRecordGroup>();
  /** Runs from this slot on may be missing, because there were too many. Infinity: none is missing. */
  completeUntilMs = Number.POSITIVE_INFINITY;
  /** Number of skipped runs without an entry. */
  unlisted = 0;
  #remaining: number;
  /** Start of the window. Slots and Jobs that ended before it are not counted. */
  #startMs = Number.NEGATIVE_INFINITY;
  /** Group and run of each live Job, by UID. */
  readonly #jobs = new Map<string, { readonly group: RunRecordGroup; readonly key: string }>();

  constructor({ maxRuns = MAX_RUNS }: RunRecordsOptions = {}) {
    this.#remaining = maxRuns;
  }

  add(record: TraceRecord): void {
    if (record.type === "header") this.#startMs = Date.parse(record.start);
    else if (record.type === "decision") {
      if (record.controller === "cronjob-controller") this.#cronJobDecision(record.decision);
      else if (record.controller === "job-controller") this.#jobDecision(record.decision);
    } else if (record.type === "object" && record.kind === "CronJob") this.#cronJob(record);
    else if (record.type === "object" && record.kind === "Job") this.#job(record);
    else if (record.type === "end") this.#end(Date.parse(record.at));
  }

  #cronJobDecision({ key, outcome, reason, slotMs, jobName, activeJobs = [], missed }: CronJobDecision): void {
    const { namespace, name } = splitObjectKey(key);
    const group = this.#group("CronJob", namespace, name);
    if (outcome === "replaced" && jobName !== undefined) group.replaced = { by: jobName, jobs: activeJobs };
    for (const runKey of group.deleted.splice(0)) this.#setReplacedReason(group, runKey);
    const skip = (skippedMs: number, why: MissReason, blockedBy?: readonly string[]): void => {
      if (skippedMs < this.#startMs) return;
      const known = group.runs.get(String(skippedMs));
      // The reason that blocked the run is more specific than `superseded`.
      const skipReason = known?.skipped === "stillActive" && why === "superseded" ? "stillActive" : why;
      const blockers = blockedBy ?? known?.blockedBy;
      this.#put(group, String(skippedMs), {
        slotMs: skippedMs,
        outcome: "Skipped",
        skipped: skipReason,
        ...(blockers === undefined ? {} : { blockedBy: blockers }),
        failedPods: 0,
      });
    };
    for (const { slotsMs, count, reason: why } of missed) {
      for (const missedMs of slotsMs) skip(missedMs, why);
      this.unlisted += count - slotsMs.length;
    }
    // Until the end of the simulation the slot may still start late, and then it counts as a run.
    delete group.heldBack;
    if (reason === "stillActive" && slotMs !== undefined) {
      skip(slotMs, reason, activeJobs);
      group.heldBack = String(slotMs);
    }
  }

  #jobDecision({ uid, error }: JobDecisionSummary): void {
    if (error === undefined || !isRefusedStatus(error)) return;
    const place = this.#jobs.get(uid);
    const run = place?.group.runs.get(place.key);
    if (place === undefined || run === undefined) return;
    place.group.runs.set(place.key, { ...run, refusedStatuses: (run.refusedStatuses ?? 0) + 1 });
  }

  #end(endMs: number): void {
    for (const { runs, states, heldBack } of this.groups.values()) {
      const run = heldBack === undefined ? undefined : runs.get(heldBack);
      if (heldBack !== undefined && run?.skipped === "stillActive")
        runs.set(heldBack, { ...run, skipped: heldBackReason(run.slotMs, states.at(-1)?.state ?? {}, endMs) });
    }
  }

  /** Sets the reason of a replaced run. The Job's deletion precedes the decision that names its replacement. */
  #setReplacedReason(group: RunRecordGroup, key: string): void {
    const run = group.runs.get(key);
    if (run?.job === undefined || group.replaced?.jobs.includes(run.job) !== true) return;
    group.runs.set(key, { ...run, reason: replacedText(group.replaced.by) });
  }

  #cronJob({ namespace, name, at, change, state }: Extract<ObjectRecord, { kind: "CronJob" }>): void {
    const { states } = this.#group("CronJob", namespace, name);
    const before = states.at(-1)?.state;
    if (change === "DELETED" || (before !== undefined && sameSpec(before, state))) return;
    states.push({ fromMs: Date.parse(at), state });
  }

  #job(record: Extract<ObjectRecord, { kind: "Job" }>): void {
    const { uid, state, name, change } = record;
    if (!this.#jobs.has(uid) && state.outcome !== undefined && Date.parse(state.outcome.at) <= this.#startMs) return;
    const place = this.#jobs.get(uid) ?? this.#place(record);
    const { group, key } = place;
    const known = group.runs.get(key);
    const atMs = Date.parse(record.at);
    const createdMs = known?.createdMs ?? Date.parse(record.createdAt ?? record.at);
    const ended = known?.outcome === "Complete" || known?.outcome === "Failed";
    if (ended || known?.outcome === "Deleted") {
      if (change === "DELETED") this.#jobs.delete(uid);
      return;
    }
    const deleted = change === "DELETED" && state.outcome === undefined;
    const endMs = state.outcome !== undefined ? Date.parse(state.outcome.at) : deleted ? atMs : undefined;
    this.#put(group, key, {
      slotMs: state.scheduledFor === undefined ? createdMs : Date.parse(state.scheduledFor),
      job: name,
      outcome: state.outcome?.type ?? (deleted ? "Deleted" : state.suspended ? "Suspended" : "Running"),
      ...(state.outcome?.type === "Failed" && state.outcome.reason !== undefined
        ? { reason: state.outcome.reason }
        : {}),
      createdMs,
      ...(state.startTime === undefined ? {} : { startMs: Date.parse(state.startTime) }),
      ...(endMs === undefined ? {} : { endMs }),
      failedPods: state.failed,
      ...(known?.refusedStatuses === undefined ? {} : { refusedStatuses: known.refusedStatuses }),
    });
    if (deleted && group.kind === "CronJob") {
      group.deleted.push(key);
      this.#setReplacedReason(group, key);
    }
    if (change === "DELETED") this.#jobs.delete(uid);
  }

  #place(record: Extract<ObjectRecord, { kind: "Job" }>): { readonly group: RunRecordGroup; readonly key: string } {
    const { namespace, name, uid, owner, state } = record;
    const place =
      owner?.kind === "CronJob"
        ? {
            group: this.#group("CronJob", namespace, owner.name),
            key: state.scheduledFor === undefined ? name : String(Date.parse(state.scheduledFor)),
          }
        : { group: this.#group("Job", namespace, name), key: name };
    this.#jobs.set(uid, place);
    return place;
  }

  #put(group: RunRecordGroup, key: string, run: RunRecord): void {
    if (!group.runs.has(key)) {
      if (this.#remaining <= 0) {
        this.completeUntilMs = Math.min(this.completeUntilMs, run.slotMs);
        return;
      }
      this.#remaining--;
    }
    group.runs.set(key, run);
  }

  #group(kind: RunRecordGroup["kind"], namespace: string, name: string): RunRecordGroup {
    const key = `${kind} ${namespace}/${name}`;
    let group = this.groups.get(key);
    if (group === undefined) {
      group = { kind, namespace, name, states: [], runs: new Map(), deleted: [] };
      this.groups.set(key, group);
    }
    return group;
  }
}

function sameSpec(a: CronJobState, b: CronJobState): boolean {
  return (
    a.schedule === b.schedule &&
    a.timeZone === b.timeZone &&
    a.suspend === b.suspend &&
    a.concurrencyPolicy === b.concurrencyPolicy
  );
}

/** Whether the API server refused the content of a write. Conflicts and missing answers do not count. */
function isRefusedStatus(error: string): boolean {
  return error.startsWith("tracking status: ") && error.includes(" is invalid: ");
}

import { type ObjectKey, objectKey } from "@kubewright/api";
import type { CronJobDecision, MissReason } from "@kubewright/cronjob";

import type { CronJobState, ObjectRecord, TraceRecord } from "./trace.js";

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
}

/** A run that did not start when it was due. */
export interface SkippedRow {
  readonly type: "skipped";
  readonly slotMs: number;
  readonly reason: string;
  /** Further runs of the same reason after this one, of which only the number is known. */
  readonly unlisted?: number;
}

export interface TimelineTotals {
  jobs: number;
  jobsComplete: number;
  jobsFailed: number;
  /** Before they had ended. */
  jobsDeleted: number;
  runsSkipped: number;
  pods: number;
  podsSucceeded: number;
  /** Without those that were stopped. */
  podsFailed: number;
  podsStopped: number;
  warnings: Map<string, number>;
}

export interface TimelineLimits {
  /** Rows kept per group. Default 200: enough for a terminal, and a stated bound for a year of runs. */
  readonly maxRows?: number;
  /** Pods kept per row. Default 50. */
  readonly maxPods?: number;
  /** Rows and pods kept of all groups together. Default: no further bound. */
  readonly maxBars?: number;
}

interface FollowedRun {
  readonly run: RunRow;
  /** As it was last told, which it is again with every change. */
  startTime: string | undefined;
  ended: boolean;
}

interface FollowedBar {
  readonly bar: PodBar;
  startedAt: string | undefined;
  ended: boolean;
}

/** Folds trace records into groups of rows, in bounded memory. */
export class Timeline {
  readonly groups: TimelineGroup[] = [];
  readonly totals: TimelineTotals = {
    jobs: 0,
    jobsComplete: 0,
    jobsFailed: 0,
    jobsDeleted: 0,
    runsSkipped: 0,
    pods: 0,
    podsSucceeded: 0,
    podsFailed: 0,
    podsStopped: 0,
    warnings: new Map(),
  };
  /** Live objects by UID; removed with the object, so a long run keeps only what exists. */
  readonly #groups = new Map<string, TimelineGroup>();
  /** The latest of each name, by its key. */
  readonly #cronJobs = new Map<ObjectKey, TimelineGroup>();
  readonly #runs = new Map<string, FollowedRun>();
  readonly #bars = new Map<string, FollowedBar>();
  /** By CronJob: the slot that `Forbid` holds back at the moment, and the Jobs in its way. It may still start late. */
  readonly #blocked = new Map<string, { slotMs: number; by: readonly string[] }>();
  #localTimeZone: string | undefined;
  #startMs = Number.NEGATIVE_INFINITY;
  /** The time looked at last. */
  #time = "";
  #timeMs = Number.NaN;
  readonly #maxRows: number;
  readonly #maxPods: number;
  #barsLeft: number;

  constructor({ maxRows = 200, maxPods = 50, maxBars = Infinity }: TimelineLimits = {}) {
    this.#maxRows = maxRows;
    this.#maxPods = maxPods;
    this.#barsLeft = maxBars;
  }

  add(record: TraceRecord): void {
    if (record.type === "decision") {
      if (record.controller === "cronjob-controller") this.#cronJobDecision(record.decision);
    } else if (record.type === "object") {
      if (record.kind === "CronJob") this.#cronJob(record);
      else if (record.kind === "Job") this.#job(record);
      else this.#pod(record);
    } else if (record.type === "header") {
      this.#localTimeZone = record.localTimeZone;
      this.#startMs = Date.parse(record.start);
    } else if (record.type === "event" && record.eventType === "Warning") {
      const what = `${record.involved.kind} ${record.reason}`;
      this.totals.warnings.set(what, (this.totals.warnings.get(what) ?? 0) + 1);
    }
  }

  #cronJobDecision({ key, outcome, reason, slotMs, activeJobs = [], missed }: CronJobDecision): void {
    const blocked = this.#blocked.get(key);
    for (const slots of missed) {
      this.totals.runsSkipped += slots.count;
      const lastMs = slots.slotsMs.at(-1);
      for (const missedMs of slots.slotsMs) {
        const why = skipReason(slots.reason, blocked?.slotMs === missedMs ? blocked.by : []);
        this.#addSkipped(key, missedMs, why, missedMs === lastMs ? slots.count - slots.slotsMs.length : 0);
      }
    }
    if (outcome === "skipped" && reason === "stillActive" && slotMs !== undefined)
      this.#blocked.set(key, { slotMs, by: activeJobs });
    else if (outcome === "ran" || outcome === "replaced") this.#blocked.delete(key);
  }

  #addSkipped(key: ObjectKey, slotMs: number, reason: string, unlisted: number): void {
    const group = this.#cronJobs.get(key);
    if (group !== undefined)
      this.#insert(group, { type: "skipped", slotMs, reason, ...(unlisted > 0 ? { unlisted } : {}) });
  }

  #cronJob(record: Extract<ObjectRecord, { kind: "CronJob" }>): void {
    const { uid, namespace, name, change } = record;
    const state = this.#localTimeZone === undefined ? record.state : { timeZone: this.#localTimeZone, ...record.state };
    const group = this.#groups.get(uid) ?? (change === "DELETED" ? undefined : this.#addCronJob(uid, namespace, name));
    if (group !== undefined) group.cronJob = state;
  }

  /** Jobs that were there from the start may be heard of before their CronJob. */
  #addCronJob(uid: string, namespace: string, name: string): TimelineGroup {
    const added = this.#addGroup(uid, { kind: "CronJob", uid, namespace, name, rows: [], hiddenRows: 0 });
    this.#cronJobs.set(objectKey(added), added);
    return added;
  }

  #job(record: Extract<ObjectRecord, { kind: "Job" }>): void {
    const { state, uid } = record;
    // What had ended before is history, which goes by and by.
    const isHistory = state.outcome !== undefined && Date.parse(state.outcome.at) < this.#startMs;
    if (isHistory && !this.#runs.has(uid)) return;
    const known = this.#runs.get(uid) ?? this.#addRun(record);
    const { run } = known;
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
    } else if (!known.ended) {
      run.outcome = state.suspended ? "Suspended" : "Running";
    }
    if (record.change !== "DELETED") return;
    if (!known.ended) {
      this.totals.jobsDeleted++;
      run.outcome = "Deleted";
      run.endMs = this.#msOf(record.at);
    } else if (record.owner === undefined) run.removedMs = this.#msOf(record.at);
    this.#runs.delete(uid);
  }

  #addRun(record: Extract<ObjectRecord, { kind: "Job" }>): FollowedRun {
    this.totals.jobs++;
    const { namespace, name, uid, owner, state } = record;
    const run: RunRow = {
      type: "run",
      name,
      uid,
      createdMs: this.#msOf(record.createdAt ?? record.at),
      ...(state.scheduledFor === undefined ? {} : { slotMs: Date.parse(state.scheduledFor) }),
      outcome: "Running",
      succeeded: 0,
      failed: 0,
      pods: [],
      hiddenPods: 0,
    };
    const group =
      owner?.kind === "CronJob"
        ? (this.#groups.get(owner.uid) ?? this.#addCronJob(owner.uid, namespace, owner.name))
        : this.#addGroup(uid, { kind: "Job", uid, namespace, name, rows: [], hiddenRows: 0 });
    this.#insert(group, run);
    const entry: FollowedRun = { run, startTime: undefined, ended: false };
    this.#runs.set(uid, entry);
    return entry;
  }

  #pod(record: Extract<ObjectRecord, { kind: "Pod" }>): void {
    const { state, uid } = record;
    if (Date.parse(state.finishedAt ?? "") < this.#startMs && !this.#bars.has(uid)) return;
    const entry = this.#bars.get(uid) ?? this.#addBar(record);
    const { bar } = entry;
    if (state.startedAt !== undefined && state.startedAt !== entry.startedAt) {
      entry.startedAt = state.startedAt;
      bar.startMs = Date.parse(state.startedAt);
    }
    if (state.node !== undefined) bar.node = state.node;
    if (state.reason !== undefined) bar.reason = state.reason;
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
    if (!entry.ended) bar.endMs = this.#msOf(record.at);
    this.#bars.delete(uid);
  }

  #addBar(record: Extract<ObjectRecord, { kind: "Pod" }>): FollowedBar {
    this.totals.pods++;
    const { name, uid, owner, state } = record;
    const bar: PodBar = {
      name,
      uid,
      ...(state.index === undefined ? {} : { index: state.index }),
      createdMs: this.#msOf(record.createdAt ?? record.at),
      outcome: "Pending",
    };
    const run = owner === undefined ? undefined : this.#runs.get(owner.uid)?.run;
    if (run !== undefined) {
      if (run.pods.length < this.#maxPods && this.#barsLeft > 0) {
        this.#barsLeft--;
        run.pods.push(bar);
      } else run.hiddenPods++;
    }
    const entry: FollowedBar = { bar, startedAt: undefined, ended: false };
    this.#bars.set(uid, entry);
    return entry;
  }

  /** Most records share their time with the one before. */
  #msOf(time: string): number {
    if (time !== this.#time) {
      this.#time = time;
      this.#timeMs = Date.parse(time);
    }
    return this.#timeMs;
  }

  #addGroup(uid: string, group: TimelineGroup): TimelineGroup {
    this.#groups.set(uid, group);
    this.groups.push(group);
    return group;
  }

  #insert(group: TimelineGroup, row: TimelineRow): void {
    if (group.rows.length >= this.#maxRows || this.#barsLeft === 0) {
      group.hiddenRows++;
      return;
    }
    this.#barsLeft--;
    const time = rowTime(row);
    let index = group.rows.length;
    while (index > 0 && rowTime(group.rows[index - 1]!) > time) index--;
    group.rows.splice(index, 0, row);
  }
}

/** The slot a row stands for, or when its Job was created. */
export function rowTime(row: TimelineRow): number {
  return row.type === "skipped" ? row.slotMs : (row.slotMs ?? row.createdMs);
}

const SKIP_REASONS: Readonly<Record<MissReason, string>> = {
  suspended: "suspended",
  stillActive: "the last run is still active (Forbid)",
  deadlinePassed: "startingDeadlineSeconds passed",
  superseded: "a later run was due as well",
  overlooked: "missed while the controller was not looking",
  beingDeleted: "the CronJob is being deleted",
  unknownTimeZone: "unknown time zone",
  unparseableSchedule: "unparseable schedule",
  invalidSchedule: "the schedule never fires",
  ownedByAnother: "its Job's name is taken",
};

/** One line for people: what kept the run from starting, and what sealed it. */
function skipReason(reason: MissReason, blockedBy: readonly string[]): string {
  if (blockedBy.length === 0) return SKIP_REASONS[reason];
  const why = `${blockedBy.join(", ")} still active`;
  return reason === "deadlinePassed" ? `${why} past the deadline` : `${why} (Forbid)`;
}

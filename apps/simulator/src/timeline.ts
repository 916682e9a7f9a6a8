import { type ObjectKey, objectKey } from "@kubewright/api";
import type { CronJobDecision } from "@kubewright/cronjob";

import { clockEffects } from "./clock-effects.js";
import { type SkipReason, heldBackReason, replacedText, skipText } from "./run-words.js";
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
  /** Is told of every row, also of those that are not kept. Default: nobody is. */
  readonly listener?: TimelineListener;
}

/** Hears of rows one by one. They stay the timeline's: until a run is settled its row changes. */
export interface TimelineListener {
  groupAdded(group: TimelineGroup): void;
  rowAdded(group: TimelineGroup, row: TimelineRow): void;
  /** The run is over, by its own end or by that of the window. Comes once for every row. */
  rowSettled(group: TimelineGroup, row: TimelineRow): void;
}

interface FollowedRun {
  readonly group: TimelineGroup;
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
  readonly #blocked = new Map<ObjectKey, { slotMs: number; by: readonly string[] }>();
  /** Since when a CronJob has the schedule it has, as far as it has been looked at for changes of the clock. */
  readonly #scheduledFrom = new Map<TimelineGroup, number>();
  /** By CronJob: the Job that Replace made, and those it asked to be deleted for it. */
  readonly #replacements = new Map<ObjectKey, { readonly by: string; readonly jobs: readonly string[] }>();
  /** By CronJob: runs deleted since its last decision, which may be about to say why. */
  readonly #deletedRuns = new Map<ObjectKey, FollowedRun[]>();
  #localTimeZone: string | undefined;
  #startMs = Number.NEGATIVE_INFINITY;
  /** The time looked at last. */
  #time = "";
  #timeMs = Number.NaN;
  readonly #maxRows: number;
  readonly #maxPods: number;
  readonly #listener: TimelineListener | undefined;
  #barsLeft: number;

  constructor({ maxRows = 200, maxPods = 50, maxBars = Infinity, listener }: TimelineLimits = {}) {
    this.#listener = listener;
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
    } else if (record.type === "end") {
      this.#end(this.#msOf(record.at));
    } else if (record.type === "event" && record.eventType === "Warning") {
      const what = `${record.involved.kind} ${record.reason}`;
      this.totals.warnings.set(what, (this.totals.warnings.get(what) ?? 0) + 1);
    }
  }

  #cronJobDecision({ key, outcome, reason, slotMs, jobName, activeJobs = [], missed }: CronJobDecision): void {
    const blocked = this.#blocked.get(key);
    for (const slots of missed) {
      const lastMs = slots.slotsMs.at(-1);
      for (const missedMs of slots.slotsMs) {
        const blockedBy = blocked?.slotMs === missedMs ? blocked.by : [];
        if (blockedBy.length > 0) this.#blocked.delete(key);
        // What held a run back says more than that a later one was due.
        const cause = blockedBy.length > 0 && slots.reason === "superseded" ? "stillActive" : slots.reason;
        const unlisted = missedMs === lastMs ? slots.count - slots.slotsMs.length : 0;
        this.#addSkipped(key, missedMs, { cause, blockedBy, unlisted });
      }
    }
    if (outcome === "skipped" && reason === "stillActive" && slotMs !== undefined)
      this.#blocked.set(key, { slotMs, by: activeJobs });
    else if (outcome === "ran" || outcome === "replaced") this.#blocked.delete(key);
    if (outcome === "replaced" && jobName !== undefined) this.#replacements.set(key, { by: jobName, jobs: activeJobs });
    this.#settleDeleted(key);
  }

  #settleDeleted(key: ObjectKey): void {
    const deleted = this.#deletedRuns.get(key);
    if (deleted === undefined) return;
    this.#deletedRuns.delete(key);
    const { by, jobs = [] } = this.#replacements.get(key) ?? {};
    for (const { group, run } of deleted) {
      if (by !== undefined && jobs.includes(run.name)) run.reason = replacedText((run.replacedBy = by));
      this.#listener?.rowSettled(group, run);
    }
  }

  /** What has not come about by the end of the window. */
  #end(atMs: number): void {
    for (const group of this.#scheduledFrom.keys()) this.#addLostSlots(group, atMs);
    for (const [key, { slotMs, by }] of this.#blocked) {
      const cause = heldBackReason(slotMs, this.#cronJobs.get(key)?.cronJob ?? {}, atMs);
      this.#addSkipped(key, slotMs, { cause, blockedBy: by, unlisted: 0 });
    }
    this.#blocked.clear();
    for (const key of this.#deletedRuns.keys()) this.#settleDeleted(key);
    for (const { group, run, ended } of this.#runs.values()) if (!ended) this.#listener?.rowSettled(group, run);
  }

  #addSkipped(
    key: ObjectKey,
    slotMs: number,
    {
      cause,
      blockedBy,
      unlisted,
    }: { readonly cause: SkipReason; readonly blockedBy: readonly string[]; readonly unlisted: number },
  ): void {
    const group = this.#cronJobs.get(key);
    const reason = skipText(cause, blockedBy);
    const row: SkippedRow = { type: "skipped", slotMs, cause, reason, ...(unlisted > 0 ? { unlisted } : {}) };
    if (group === undefined) this.totals.runsSkipped += 1 + unlisted;
    else this.#addSkippedRow(group, row);
  }

  #addSkippedRow(group: TimelineGroup, row: SkippedRow): void {
    this.totals.runsSkipped += 1 + (row.unlisted ?? 0);
    this.#insert(group, row);
    this.#listener?.rowSettled(group, row);
  }

  #cronJob(record: Extract<ObjectRecord, { kind: "CronJob" }>): void {
    const { uid, namespace, name, change } = record;
    const state = this.#localTimeZone === undefined ? record.state : { timeZone: this.#localTimeZone, ...record.state };
    const group = this.#groups.get(uid) ?? (change === "DELETED" ? undefined : this.#addCronJob(uid, namespace, name));
    if (group === undefined) return;
    const { cronJob: before } = group;
    if (before !== undefined && (change === "DELETED" || !isSameSchedule(before, state)))
      this.#addLostSlots(group, this.#msOf(record.at));
    group.cronJob = state;
    if (change === "DELETED") this.#scheduledFrom.delete(group);
    else if (before === undefined) this.#scheduledFrom.set(group, this.#msOf(record.at));
  }

  /** Slots that the clock left out since the CronJob has its schedule: no controller sees them. */
  #addLostSlots(group: TimelineGroup, untilMs: number): void {
    const { cronJob } = group;
    const fromMs = this.#scheduledFrom.get(group);
    if (cronJob === undefined || fromMs === undefined) return;
    this.#scheduledFrom.set(group, untilMs);
    if (cronJob.suspend) return;
    for (const row of clockEffects(cronJob, Math.max(fromMs, this.#startMs), untilMs).lost)
      this.#addSkippedRow(group, row);
  }

  /** Jobs that were there from the start may be heard of before their CronJob. */
  #addCronJob(uid: string, namespace: string, name: string): TimelineGroup {
    const added = this.#addGroup(uid, { kind: "CronJob", uid, namespace, name, rows: [], hiddenRows: 0 });
    this.#cronJobs.set(objectKey(added), added);
    return added;
  }

  #job(record: Extract<ObjectRecord, { kind: "Job" }>): void {
    const { state, uid } = record;
    let known = this.#runs.get(uid);
    // What had ended before is history, which goes by and by.
    if (known === undefined && this.#isBefore(state.outcome?.at)) return;
    known ??= this.#addRun(record);
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
      this.#listener?.rowSettled(known.group, run);
    } else if (!known.ended) {
      run.outcome = state.suspended ? "Suspended" : "Running";
    }
    if (record.change !== "DELETED") return;
    if (!known.ended) {
      this.totals.jobsDeleted++;
      run.outcome = "Deleted";
      run.endMs = this.#msOf(record.at);
      const { namespace, owner } = record;
      const key = objectKey({ namespace, name: owner?.name ?? "" });
      const others = this.#deletedRuns.get(key);
      if (others === undefined) this.#deletedRuns.set(key, [known]);
      else others.push(known);
      // Otherwise its controller's next decision may say why it was deleted.
      if (owner?.kind !== "CronJob" || this.#replacements.get(key)?.jobs.includes(run.name) === true)
        this.#settleDeleted(key);
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
    const entry: FollowedRun = { group, run, startTime: undefined, ended: false };
    this.#runs.set(uid, entry);
    return entry;
  }

  #pod(record: Extract<ObjectRecord, { kind: "Pod" }>): void {
    const { state, uid } = record;
    let entry = this.#bars.get(uid);
    if (entry === undefined && this.#isBefore(state.finishedAt)) return;
    entry ??= this.#addBar(record);
    const { bar } = entry;
    if (state.startedAt !== undefined && state.startedAt !== entry.startedAt) {
      entry.startedAt = state.startedAt;
      bar.startMs = Date.parse(state.startedAt);
    }
    if (state.node !== undefined) bar.node = state.node;
    if (state.reason !== undefined) bar.reason = state.reason;
    if (state.unschedulable !== undefined && state.unschedulable !== bar.unschedulable) {
      bar.unschedulable = state.unschedulable;
      const run = this.#runs.get(record.owner?.uid ?? "")?.run;
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

  #isBefore(time: string | undefined): boolean {
    return time !== undefined && Date.parse(time) < this.#startMs;
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
    this.#listener?.groupAdded(group);
    return group;
  }

  #insert(group: TimelineGroup, row: TimelineRow): void {
    this.#listener?.rowAdded(group, row);
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

function isSameSchedule(a: CronJobState, b: CronJobState): boolean {
  return a.schedule === b.schedule && a.timeZone === b.timeZone && a.suspend === b.suspend;
}

import { type ObjectKey, objectKey } from "@kubewright/api";
import { describeSchedule } from "@kubewright/cron";
import type { CronJobDecision } from "@kubewright/cronjob";
import type { SkippedRow, TimelineGroup } from "@kubewright/timeline/data";

import type { CronJobState, ObjectRecord, TraceRecord } from "../run/trace.js";
import { DeletedRuns } from "./deleted-runs.js";
import { BoundedRows, type TimelineLimits } from "./bounded-rows.js";
import { LostSlots, isSameSchedule } from "./lost-slots.js";
import { PodBars } from "./pod-bars.js";
import { RecordTimes } from "./record-times.js";
import { type JobRecord, RunRows } from "./run-rows.js";
import { SkippedSlots } from "./skipped-slots.js";
import { type TimelineTotals, emptyTotals } from "./totals.js";

/** Folds trace records into groups of rows, in bounded memory. */
export class Timeline {
  readonly totals: TimelineTotals = emptyTotals();
  readonly #times = new RecordTimes();
  readonly #rows: BoundedRows;
  readonly #runs: RunRows;
  readonly #pods: PodBars;
  readonly #deletedRuns: DeletedRuns;
  readonly #skippedSlots = new SkippedSlots(this.#times);
  readonly #lostSlots = new LostSlots();
  /** By the UID of their CronJob or Job. */
  readonly #groups = new Map<string, TimelineGroup>();
  /** By key: the latest CronJob of each name. */
  readonly #cronJobs = new Map<ObjectKey, TimelineGroup>();
  #localTimeZone: string | undefined;

  constructor(limits: TimelineLimits = {}) {
    this.#rows = new BoundedRows(limits);
    this.#deletedRuns = new DeletedRuns((group, run) => this.#rows.settle(group, run));
    this.#pods = new PodBars(this.#times, this.#rows, this.totals);
    this.#runs = new RunRows(this.#times, this.#rows, this.totals, this.#deletedRuns, (record) =>
      this.#groupOf(record),
    );
  }

  get groups(): TimelineGroup[] {
    return this.#rows.groups;
  }

  add(record: TraceRecord): void {
    if (record.type === "decision") {
      if (record.controller === "cronjob-controller") this.#cronJobDecision(record.decision);
      else if (record.controller === "job-controller") this.#runs.decided(record.decision);
    } else if (record.type === "object") {
      if (record.kind === "CronJob") this.#cronJob(record);
      else if (record.kind === "Job") this.#runs.changed(record);
      else this.#pods.changed(record, record.owner && this.#runs.find(record.owner.uid));
    } else if (record.type === "header") {
      this.#localTimeZone = record.localTimeZone;
      this.#times.startMs = Date.parse(record.start);
    } else if (record.type === "end") {
      this.#end(this.#times.msOf(record.at));
    } else if (record.type === "event" && record.eventType === "Warning") {
      const key = `${record.involved.kind} ${record.reason}`;
      this.totals.warnings.set(key, (this.totals.warnings.get(key) ?? 0) + 1);
    }
  }

  #cronJobDecision(decision: CronJobDecision): void {
    for (const row of this.#skippedSlots.decided(decision)) this.#addSkipped(this.#cronJobs.get(decision.key), row);
    this.#deletedRuns.decided(decision);
  }

  /** Adds what is still open at the end of the window. */
  #end(atMs: number): void {
    for (const group of this.#lostSlots.followedGroups) this.#addLostSlots(group, atMs);
    const stateOf = (key: ObjectKey): Partial<CronJobState> => this.#cronJobs.get(key)?.cronJob ?? {};
    for (const [key, row] of this.#skippedSlots.ended(atMs, stateOf)) this.#addSkipped(this.#cronJobs.get(key), row);
    this.#deletedRuns.ended();
    this.#runs.ended();
  }

  /** Adds a skipped slot. Without a record of its CronJob it is only counted. */
  #addSkipped(group: TimelineGroup | undefined, row: SkippedRow): void {
    this.totals.runsSkipped += 1 + (row.unlisted ?? 0);
    if (group === undefined) return;
    this.#rows.addRow(group, row);
    this.#rows.settle(group, row);
  }

  #addLostSlots(group: TimelineGroup, untilMs: number): void {
    for (const row of this.#lostSlots.slotsUntil(untilMs, group, this.#times.startMs)) this.#addSkipped(group, row);
  }

  #cronJob(record: Extract<ObjectRecord, { kind: "CronJob" }>): void {
    const { uid, change } = record;
    const state = this.#localTimeZone === undefined ? record.state : { timeZone: this.#localTimeZone, ...record.state };
    const group = this.#groups.get(uid) ?? (change === "DELETED" ? undefined : this.#addCronJob(record));
    if (group === undefined) return;
    const { cronJob: before } = group;
    if (before !== undefined && (change === "DELETED" || !isSameSchedule(before, state)))
      this.#addLostSlots(group, this.#times.msOf(record.at));
    if (before?.schedule !== state.schedule) {
      const words = describeSchedule(state.schedule);
      if (words === undefined) delete group.scheduleText;
      else group.scheduleText = words;
    }
    group.cronJob = state;
    if (change === "DELETED") this.#lostSlots.forget(group);
    else if (before === undefined) this.#lostSlots.follow(group, this.#times.msOf(record.at));
  }

  #groupOf({ uid, namespace, name, owner }: JobRecord): TimelineGroup {
    if (owner?.kind !== "CronJob") return this.#rows.addGroup({ kind: "Job", uid, namespace, name });
    return this.#groups.get(owner.uid) ?? this.#addCronJob({ uid: owner.uid, namespace, name: owner.name });
  }

  /** Adds a CronJob's group. Jobs that existed from the start may be reported before their CronJob. */
  #addCronJob({ uid, namespace, name }: Pick<TimelineGroup, "uid" | "namespace" | "name">): TimelineGroup {
    const added = this.#rows.addGroup({ kind: "CronJob", uid, namespace, name });
    this.#groups.set(uid, added);
    this.#cronJobs.set(objectKey(added), added);
    return added;
  }
}

import {
  type CreationRefusal,
  type RunRow,
  type SkippedRow,
  type TimelineRow,
  isWithoutPods,
} from "@kubewright/timeline/data";

import { type SkipReason, lateMs, durationMsOf } from "../text/run-row-text.js";
import { causeOf } from "../timeline/refusal-of.js";
import { Durations, type PackedDurations } from "./durations.js";

/** Count of an occurrence, with its first and last time. */
export interface Occurrences {
  count: number;
  firstMs: number;
  lastMs: number;
}

/** Runs and slots that one cause affects: pods or Jobs that the API server refuses. */
export interface RefusedRuns extends Occurrences {
  /** The first refusal. */
  readonly refusal: CreationRefusal;
  /** Runs whose pods were refused. The other occurrences are slots whose Job was refused. */
  runs: number;
  /** Of `runs`, those without any pod. */
  withoutPods: number;
}

/** Maximum number of causes per CronJob; a policy's message may differ for every pod. */
const MAX_CAUSES = 20;

/** Plain data. */
export interface PackedStatistics extends Omit<
  RunStatistics,
  "durations" | "begun" | "runDeleted" | "settled" | "packed"
> {
  readonly durations: PackedDurations;
}

/** Statistics of all runs of a CronJob, updated as they end. No run is stored. */
export class RunStatistics {
  runs = 0;
  complete = 0;
  /** By the reason of the condition `Failed`. */
  readonly failed = new Map<string, Occurrences>();
  /** By skip reason, with the text of the first. */
  readonly skipped = new Map<SkipReason, Occurrences & { readonly text: string }>();
  /** Deleted before their end: `replaced` by Replace, `deleted` by other clients. */
  readonly replaced: Occurrences = noOccurrences();
  readonly deleted: Occurrences = noOccurrences();
  /** Not ended at the end of the window. */
  readonly unfinished: Occurrences = noOccurrences();
  readonly late: Occurrences & { worstMs: number } = { ...noOccurrences(), worstMs: 0 };
  /** Runs with a pod that waited because it fit on no node, and the scheduler's last message. */
  readonly withoutNode: Occurrences & { message: string } = { ...noOccurrences(), message: "" };
  /** By cause. Causes after the first {@link MAX_CAUSES} are not counted. */
  readonly refused = new Map<string, RefusedRuns>();
  /** Durations of the runs that were not deleted. */
  readonly durations = new Durations();
  longest: { readonly tookMs: number; readonly name: string; readonly atMs: number } | undefined;
  /** Runs that started while another was active. */
  overlaps = 0;
  /** Maximum number of concurrently active runs. */
  maxConcurrent = 0;
  #active = 0;

  /** A copy that can be sent to another thread after the last run. */
  get packed(): PackedStatistics {
    return Object.assign({}, this, { durations: this.durations.packed });
  }

  static of({ durations, ...others }: PackedStatistics): RunStatistics {
    return Object.assign(new RunStatistics(), others, { durations: Durations.of(durations) });
  }

  /** Counts a new run. */
  runStarted(): void {
    this.runs++;
    this.#active++;
    if (this.#active > 1) this.overlaps++;
    this.maxConcurrent = Math.max(this.maxConcurrent, this.#active);
  }

  /** Counts a run whose Job was deleted before its end as inactive. */
  runDeleted(): void {
    this.#active--;
  }

  /** Counts a run that ended, was cut off by the end of the window, or was skipped. */
  runSettled(row: TimelineRow): void {
    if (row.type === "skipped") this.#skip(row);
    else this.#end(row);
  }

  #skip({ cause, reason, slotMs, unlisted = 0, refusal }: SkippedRow): void {
    if (refusal !== undefined) this.#refuse(refusal, slotMs);
    const occurrences = this.skipped.get(cause) ?? { ...noOccurrences(), text: reason };
    this.skipped.set(cause, occurrences);
    add(occurrences, slotMs, 1 + unlisted);
  }

  #end(row: RunRow): void {
    const atMs = row.slotMs ?? row.createdMs;
    if (row.outcome === "Complete") this.complete++;
    else if (row.outcome === "Deleted") add(row.replacedBy === undefined ? this.deleted : this.replaced, atMs);
    else if (row.outcome === "Failed") {
      const reason = row.reason ?? "unknown";
      const occurrences = this.failed.get(reason) ?? noOccurrences();
      this.failed.set(reason, occurrences);
      add(occurrences, atMs);
    } else add(this.unfinished, atMs);
    if (row.outcome === "Complete" || row.outcome === "Failed") this.#active--;
    const late = lateMs(row);
    if (late > 0) {
      add(this.late, atMs);
      this.late.worstMs = Math.max(this.late.worstMs, late);
    }
    if (row.refusal !== undefined) this.#refuse(row.refusal, atMs, row);
    if (row.unschedulable !== undefined) {
      add(this.withoutNode, atMs);
      this.withoutNode.message = row.unschedulable;
    }
    const took = durationMsOf(row);
    if (took === undefined || row.outcome === "Deleted") return;
    this.durations.add(took);
    if (took > (this.longest?.tookMs ?? -1)) this.longest = { tookMs: took, name: row.name, atMs };
  }

  /** @param run - The run whose pods were refused; `undefined` for a slot whose Job was refused. */
  #refuse(refusal: CreationRefusal, atMs: number, run?: RunRow): void {
    const cause = causeOf(refusal);
    let refused = this.refused.get(cause);
    if (refused === undefined) {
      if (this.refused.size >= MAX_CAUSES) return;
      this.refused.set(cause, (refused = { ...noOccurrences(), refusal, runs: 0, withoutPods: 0 }));
    }
    add(refused, atMs);
    if (run === undefined) return;
    refused.runs++;
    if (isWithoutPods(run)) refused.withoutPods++;
  }
}

export function totalOf(occurrences: ReadonlyMap<unknown, Occurrences>): number {
  let total = 0;
  for (const { count } of occurrences.values()) total += count;
  return total;
}

function noOccurrences(): Occurrences {
  return { count: 0, firstMs: Number.POSITIVE_INFINITY, lastMs: Number.NEGATIVE_INFINITY };
}

function add(occurrences: Occurrences, atMs: number, count = 1): void {
  occurrences.count += count;
  occurrences.firstMs = Math.min(occurrences.firstMs, atMs);
  occurrences.lastMs = Math.max(occurrences.lastMs, atMs);
}

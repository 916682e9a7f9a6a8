import type { RunRow, SkippedRow, TimelineRow } from "@kubewright/timeline/data";

import { type SkipReason, lateMs, durationMsOf } from "../run-row-text.js";
import { Durations, type PackedDurations } from "./durations.js";

/** Something that came up more than once: how often, and from when to when. */
export interface Occurrences {
  count: number;
  firstMs: number;
  lastMs: number;
}

/** Plain data. */
export interface PackedStatistics extends Omit<
  RunStatistics,
  "durations" | "begun" | "runDeleted" | "settled" | "packed"
> {
  readonly durations: PackedDurations;
}

/** What all runs of a CronJob come to, counted as they end: no run is kept. */
export class RunStatistics {
  runs = 0;
  complete = 0;
  /** By the reason of the condition `Failed`. */
  readonly failed = new Map<string, Occurrences>();
  /** With what is said of the first. */
  readonly skipped = new Map<SkipReason, Occurrences & { readonly text: string }>();
  /** Before their end, by Replace and by others. */
  readonly replaced: Occurrences = noOccurrences();
  readonly deleted: Occurrences = noOccurrences();
  /** Not ended with the window. */
  readonly unfinished: Occurrences = noOccurrences();
  readonly late: Occurrences & { worstMs: number } = { ...noOccurrences(), worstMs: 0 };
  /** Runs with a pod that waited because it fit on no node, and what the scheduler last said of one. */
  readonly withoutNode: Occurrences & { message: string } = { ...noOccurrences(), message: "" };
  /** Of the runs that ended by themselves. */
  readonly durations = new Durations();
  longest: { readonly tookMs: number; readonly name: string; readonly atMs: number } | undefined;
  /** Runs that began while another was active. */
  overlaps = 0;
  /** The most runs that were active at a time. */
  maxConcurrent = 0;
  #active = 0;

  /** As they can be handed to another thread, once no run will be heard of any more. */
  get packed(): PackedStatistics {
    return Object.assign({}, this, { durations: this.durations.packed });
  }

  static of({ durations, ...others }: PackedStatistics): RunStatistics {
    return Object.assign(new RunStatistics(), others, { durations: Durations.of(durations) });
  }

  /** A run has begun. */
  runStarted(): void {
    this.runs++;
    this.#active++;
    if (this.#active > 1) this.overlaps++;
    this.maxConcurrent = Math.max(this.maxConcurrent, this.#active);
  }

  /** A run's Job was deleted before its end, and stands in no other's way any more. */
  runDeleted(): void {
    this.#active--;
  }

  /** A run is over, by its own end or that of the window, or was skipped. */
  runSettled(row: TimelineRow): void {
    if (row.type === "skipped") this.#skip(row);
    else this.#end(row);
  }

  #skip({ cause, reason, slotMs, unlisted = 0 }: SkippedRow): void {
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
    if (row.unschedulable !== undefined) {
      add(this.withoutNode, atMs);
      this.withoutNode.message = row.unschedulable;
    }
    const took = durationMsOf(row);
    if (took === undefined || row.outcome === "Deleted") return;
    this.durations.add(took);
    if (took > (this.longest?.tookMs ?? -1)) this.longest = { tookMs: took, name: row.name, atMs };
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

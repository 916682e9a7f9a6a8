import { rowTime, type RunRow, type TimelineGroup, type TimelineRow } from "@kubewright/timeline/data";

import { Durations } from "../digest/durations.js";
import { lateMs, tookMs } from "../run-words.js";
import type { TimelineListener } from "../timeline/kept-rows.js";
import { type Mishap, isCalledOff, isSkip, mishapKey, mishapOf, severityOf } from "./mishap.js";

/** How often a mishap came up in one future, and how bad it was at worst. */
export interface MishapCount {
  readonly mishap: Mishap;
  count: number;
  /** The worst: milliseconds for lateness, else 1. */
  severity: number;
  /** Of the first of the worst: the slot, or when the run was created. */
  atMs: number;
  readonly text: string;
}

/** What one future made of a CronJob, or a Job of its own. Plain data. */
export interface GroupFuture {
  readonly kind: TimelineGroup["kind"];
  readonly namespace: string;
  readonly name: string;
  /** Slots that were not called off; of a Job, 1. */
  readonly slots: number;
  readonly runs: number;
  /** Those that came up, by key. */
  readonly mishaps: Readonly<Record<string, MishapCount>>;
  /** Seconds, and how often. */
  readonly durations: readonly (readonly [number, number])[];
  readonly lateness: readonly (readonly [number, number])[];
}

interface Counted {
  readonly group: TimelineGroup;
  slots: number;
  runs: number;
  active: number;
  latestMs: number;
  longestMs: number;
  readonly mishaps: Record<string, MishapCount>;
  readonly durations: Durations;
  readonly lateness: Durations;
  /** Runs that the end of the window cut off. */
  readonly unfinished: RunRow[];
}

/** Counts what goes wrong in one future, as it happens: no run is kept. */
export class MishapCounter implements TimelineListener {
  readonly #mishaps: readonly Mishap[];
  readonly #groups = new Map<TimelineGroup, Counted>();

  /** @param mishaps - What to count beside the reasons for which runs are skipped. */
  constructor(mishaps: readonly Mishap[]) {
    this.#mishaps = mishaps;
  }

  groupAdded(group: TimelineGroup): void {
    this.#groups.set(group, {
      group,
      slots: 0,
      runs: 0,
      active: 0,
      latestMs: Number.NEGATIVE_INFINITY,
      longestMs: 0,
      mishaps: {},
      durations: new Durations(),
      lateness: new Durations(),
      unfinished: [],
    });
  }

  rowAdded(group: TimelineGroup, row: TimelineRow): void {
    const counted = this.#groups.get(group)!;
    counted.latestMs = Math.max(counted.latestMs, rowTime(row));
    if (row.type === "skipped") return;
    counted.runs++;
    counted.slots++;
    counted.active++;
    if (counted.active > 1) this.#runMishap(counted, row, "overlap");
  }

  runDeleted(group: TimelineGroup): void {
    this.#groups.get(group)!.active--;
  }

  rowSettled(group: TimelineGroup, row: TimelineRow): void {
    const counted = this.#groups.get(group)!;
    if (row.type === "skipped") {
      if (isCalledOff(row)) return;
      const count = 1 + (row.unlisted ?? 0);
      counted.slots += count;
      for (const mishap of [...this.#mishaps, { kind: "skipped", cause: row.cause } as const])
        if (isSkip(row, mishap)) hit(counted, mishap, { count, severity: 1, atMs: row.slotMs, text: row.reason });
      return;
    }
    if (row.slotMs !== undefined) counted.lateness.add(lateMs(row));
    const took = tookMs(row);
    if (row.outcome === "Running" || row.outcome === "Suspended") counted.unfinished.push(row);
    else {
      if (row.outcome !== "Deleted") counted.active--;
      if (took !== undefined && row.outcome !== "Deleted") {
        counted.durations.add(took);
        counted.longestMs = Math.max(counted.longestMs, took);
      }
    }
    for (const mishap of this.#mishaps) {
      const severity = severityOf(row, mishap);
      if (severity > 0) hit(counted, mishap, { count: 1, severity, atMs: rowTime(row), text: mishapOf(row, mishap) });
    }
  }

  /** @param endMs - Where the window ended. */
  groups(endMs: number): GroupFuture[] {
    return [...this.#groups.values()].map((counted) => {
      for (const run of counted.unfinished)
        if (isOverdue(run, counted, endMs)) this.#runMishap(counted, run, "never-finished");
      const { group, slots, runs, mishaps, durations, lateness } = counted;
      const { kind, namespace, name } = group;
      return { kind, namespace, name, slots, runs, mishaps, durations: durations.counts, lateness: lateness.counts };
    });
  }

  #runMishap(counted: Counted, run: RunRow, kind: Mishap["kind"]): void {
    const mishap = this.#mishaps.find((each) => each.kind === kind);
    if (mishap !== undefined)
      hit(counted, mishap, { count: 1, severity: 1, atMs: rowTime(run), text: mishapOf(run, mishap) });
  }
}

/** A Job that has not finished; of a CronJob's, one that a later slot has overtaken and that no other took as long as. */
function isOverdue(run: RunRow, { group, latestMs, longestMs }: Counted, endMs: number): boolean {
  if (run.outcome === "Suspended") return false;
  if (group.kind === "Job") return true;
  return latestMs > rowTime(run) && endMs - (run.startMs ?? run.createdMs) > longestMs;
}

function hit({ mishaps }: Counted, mishap: Mishap, found: Omit<MishapCount, "mishap">): void {
  const key = mishapKey(mishap);
  const before = mishaps[key];
  if (before === undefined) mishaps[key] = { mishap, ...found };
  else if (found.severity > before.severity) mishaps[key] = { ...found, mishap, count: before.count + found.count };
  else before.count += found.count;
}

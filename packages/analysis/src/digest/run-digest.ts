import { rowTime, type TimelineGroup, type TimelineRow } from "@kubewright/timeline/data";

import { durationMsOf, lateMs } from "../text/run-row-text.js";
import type { TimelineListener } from "../timeline/bounded-rows.js";
import { RunStatistics } from "./run-statistics.js";

/** The rows and statistics that a terminal shows for one CronJob, or one Job without a CronJob. */
export interface DigestGroup {
  readonly group: TimelineGroup;
  readonly statistics: RunStatistics;
  /** Ordered by time. */
  readonly rows: readonly DigestRow[];
}

export type DigestRow = TimelineRow | FoldedRows;

/** Consecutive runs that are counted instead of listed. */
export interface FoldedRows {
  readonly type: "folded";
  readonly fromMs: number;
  readonly toMs: number;
  /** Counts by kind: `Complete`, or the kind of a notable run. */
  readonly counts: ReadonlyMap<string, number>;
  /** The shortest and the longest duration of the complete runs, in milliseconds. */
  readonly tookMs?: readonly [number, number];
}

/** Up to 24 ordinary runs are all listed; of more, only the first three. */
const MAX_ORDINARY = 24;
const FIRST_ORDINARY = 3;
/** Maximum number of listed runs of each notable kind, so that a thousand skipped runs do not displace a failure. */
const MAX_OF_A_KIND = 20;
/** A run is long if it exceeds the median by this factor and by this time. The median needs at least 20 runs. */
const LONG_FACTOR = 2;
const LONG_AFTER_RUNS = 20;
const LONG_MS = 60_000;

/**
 * Stores the notable runs of each group and the counts of the others. Notable runs failed, were skipped, late, deleted
 * or without a node, or took far longer than the others.
 *
 * Bounds for each group: 20 rows of each notable kind, 24 ordinary rows, one fold between any two rows, and the active
 * runs.
 */
export class RunDigest implements TimelineListener {
  readonly #groups = new Map<TimelineGroup, GroupDigest>();

  get groups(): DigestGroup[] {
    return [...this.#groups.values()].map(({ group, statistics, head }) => ({
      group,
      statistics,
      rows: rowsFrom(head.next),
    }));
  }

  groupAdded(group: TimelineGroup): void {
    const head: Link = { row: undefined };
    this.#groups.set(group, {
      group,
      head,
      tail: head,
      statistics: new RunStatistics(),
      kinds: new Map(),
      ordinary: [],
      places: new Map(),
      typical: { sizeWhenAsked: 0, medianMs: undefined },
    });
  }

  rowAdded(group: TimelineGroup, row: TimelineRow): void {
    const followed = this.#groups.get(group)!;
    const time = rowTime(row);
    let before = followed.tail;
    while (before.row !== undefined && startOf(before.row) > time) before = before.previous!;
    const link: Link = { row, previous: before };
    if (before.next === undefined) followed.tail = link;
    else {
      link.next = before.next;
      before.next.previous = link;
    }
    before.next = link;
    followed.places.set(row, link);
    if (row.type === "run") followed.statistics.runStarted();
  }

  runDeleted(group: TimelineGroup): void {
    this.#groups.get(group)!.statistics.runDeleted();
  }

  rowSettled(group: TimelineGroup, row: TimelineRow): void {
    const followed = this.#groups.get(group)!;
    const { places, kinds, statistics, ordinary } = followed;
    const link = places.get(row)!;
    places.delete(row);
    const kind = notableKindOf(row, followed);
    statistics.runSettled(row);
    if (group.kind === "Job") return;
    if (kind !== undefined) {
      const shown = kinds.get(kind) ?? 0;
      kinds.set(kind, shown + 1);
      if (shown >= MAX_OF_A_KIND) fold(followed, link, kind);
    } else if (ordinary === undefined) fold(followed, link, "Complete");
    else {
      ordinary.push(link);
      if (ordinary.length <= MAX_ORDINARY) return;
      followed.ordinary = undefined;
      for (const each of ordinary.sort((a, b) => startOf(a.row!) - startOf(b.row!)).slice(FIRST_ORDINARY))
        fold(followed, each, "Complete");
    }
  }
}

interface Link {
  /** Undefined: the head of the list. */
  row: DigestRow | undefined;
  previous?: Link | undefined;
  next?: Link | undefined;
}

interface GroupDigest {
  readonly group: TimelineGroup;
  readonly statistics: RunStatistics;
  readonly head: Link;
  tail: Link;
  /** Number of runs of each notable kind. */
  readonly kinds: Map<string, number>;
  /** Ordinary runs that are listed; `undefined` once there were too many. */
  ordinary: Link[] | undefined;
  /** Links of the rows that are not settled. */
  readonly places: Map<TimelineRow, Link>;
  /** The cached median, which is recomputed only when the number of runs has grown by a tenth. */
  readonly typical: { sizeWhenAsked: number; medianMs: number | undefined };
}

/** Returns the kind of a notable run; `undefined` for an ordinary run. */
function notableKindOf(row: TimelineRow, followed: GroupDigest): string | undefined {
  if (row.type === "skipped") return `skipped: ${row.cause}`;
  if (row.outcome === "Failed") return `Failed: ${row.reason ?? "unknown"}`;
  if (row.outcome !== "Complete") return row.replacedBy === undefined ? row.outcome : "replaced";
  if (row.unschedulable !== undefined) return "waited for a node";
  if (lateMs(row) > 0) return "started late";
  const took = durationMsOf(row) ?? 0;
  const median = medianOf(followed);
  return median !== undefined && took > LONG_FACTOR * median && took - median > LONG_MS ? "far longer" : undefined;
}

function medianOf({ statistics: { durations }, typical }: GroupDigest): number | undefined {
  if (durations.size < LONG_AFTER_RUNS) return undefined;
  if (durations.size > typical.sizeWhenAsked * 1.1) {
    typical.sizeWhenAsked = durations.size;
    typical.medianMs = durations.quantile(0.5);
  }
  return typical.medianMs;
}

/** Turns a row into a fold and joins it with adjacent folds. */
function fold(followed: GroupDigest, link: Link, kind: string): void {
  link.row = folded(link.row as TimelineRow, kind);
  for (const [first, second] of [
    [link.previous, link],
    [link, link.next],
  ] as const) {
    if (first?.row?.type !== "folded" || second?.row?.type !== "folded") continue;
    // Keeps `link` and removes its neighbour, so that both neighbours can join.
    const gone = first === link ? second : first;
    link.row = joined(first.row, second.row);
    if (gone.previous !== undefined) gone.previous.next = gone.next;
    if (gone.next !== undefined) gone.next.previous = gone.previous;
    if (followed.tail === gone) followed.tail = gone.previous!;
  }
}

function folded(row: TimelineRow, kind: string): FoldedRows {
  const atMs = rowTime(row);
  const took = row.type === "run" && row.outcome === "Complete" ? durationMsOf(row) : undefined;
  const count = 1 + (row.type === "skipped" ? (row.unlisted ?? 0) : 0);
  return {
    type: "folded",
    fromMs: atMs,
    toMs: atMs,
    counts: new Map([[kind, count]]),
    ...(took === undefined ? {} : { tookMs: [took, took] }),
  };
}

export function joined(a: FoldedRows, b: FoldedRows): FoldedRows {
  const counts = new Map(a.counts);
  for (const [kind, count] of b.counts) counts.set(kind, (counts.get(kind) ?? 0) + count);
  const took = [a.tookMs, b.tookMs].filter((range) => range !== undefined);
  return {
    type: "folded",
    fromMs: Math.min(a.fromMs, b.fromMs),
    toMs: Math.max(a.toMs, b.toMs),
    counts,
    ...(took.length === 0
      ? {}
      : { tookMs: [Math.min(...took.map(([min]) => min)), Math.max(...took.map(([, max]) => max))] }),
  };
}

/** Maximum number of consecutive identical runs that are listed. */
const MAX_IDENTICAL = 3;

/** Folds consecutive identical complete runs in a short list. */
export function foldIdentical(rows: readonly DigestRow[]): DigestRow[] {
  const result: DigestRow[] = [];
  for (let from = 0, to = 0; from < rows.length; from = to) {
    const first = rows[from]!;
    for (to = from + 1; to < rows.length && isSameRun(first, rows[to]!); to++);
    const stretch = rows.slice(from, to) as TimelineRow[];
    if (stretch.length <= MAX_IDENTICAL + 1) result.push(...stretch);
    else {
      const rest = stretch.slice(MAX_IDENTICAL).map((row) => folded(row, "Complete"));
      result.push(...stretch.slice(0, MAX_IDENTICAL), rest.reduce(joined));
    }
  }
  return result;
}

function isSameRun(a: DigestRow, b: DigestRow): boolean {
  if (a.type !== "run" || b.type !== "run" || a.outcome !== "Complete" || b.outcome !== "Complete") return false;
  const [tookA = 0, tookB = 0] = [durationMsOf(a), durationMsOf(b)];
  return (
    Math.abs(tookA - tookB) <= 1_000 &&
    lateMs(a) === 0 &&
    lateMs(b) === 0 &&
    a.succeeded === b.succeeded &&
    a.failed === b.failed &&
    a.unschedulable === b.unschedulable
  );
}

function startOf(row: DigestRow): number {
  return row.type === "folded" ? row.fromMs : rowTime(row);
}

function rowsFrom(link: Link | undefined): DigestRow[] {
  const rows: DigestRow[] = [];
  for (let each = link; each !== undefined; each = each.next) if (each.row !== undefined) rows.push(each.row);
  return rows;
}

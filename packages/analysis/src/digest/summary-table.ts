import { formatDuration } from "../time/duration.js";
import { type Style, printable } from "../text/style.js";
import type { DigestGroup } from "./run-digest.js";
import { type RunStatistics, totalOf } from "./run-statistics.js";

export interface SummaryOptions {
  /** Characters per line. */
  readonly width: number;
  readonly style: Style;
}

interface Column {
  readonly title: string;
  readonly of: (statistics: RunStatistics) => string;
  readonly paint?: (style: Style) => (text: string) => string;
  /** Omitted when it is empty for every CronJob. */
  readonly isOptional?: true;
  /** Columns with the highest value are dropped first on a narrow terminal; 0: never dropped. */
  readonly dropPriority: number;
}

const COLUMNS: readonly Column[] = [
  { title: "runs", of: ({ runs }) => count(runs), dropPriority: 0 },
  { title: "ok", of: ({ complete }) => count(complete), dropPriority: 0 },
  {
    title: "failed",
    of: ({ failed }) => count(totalOf(failed)),
    paint: ({ red }) => red,
    isOptional: true,
    dropPriority: 0,
  },
  {
    title: "skipped",
    of: ({ skipped }) => count(totalOf(skipped)),
    paint: ({ yellow }) => yellow,
    isOptional: true,
    dropPriority: 0,
  },
  {
    title: "replaced",
    of: ({ replaced }) => count(replaced.count),
    paint: ({ yellow }) => yellow,
    isOptional: true,
    dropPriority: 0,
  },
  {
    title: "deleted",
    of: ({ deleted }) => count(deleted.count),
    paint: ({ yellow }) => yellow,
    isOptional: true,
    dropPriority: 0,
  },
  {
    title: "unfinished",
    of: ({ unfinished }) => count(unfinished.count),
    paint: ({ cyan }) => cyan,
    isOptional: true,
    dropPriority: 1,
  },
  {
    title: "late by",
    of: ({ late }) => (late.count === 0 ? "" : formatDuration(late.worstMs)),
    paint: ({ yellow }) => yellow,
    isOptional: true,
    dropPriority: 2,
  },
  { title: "p50", of: ({ durations }) => duration(durations.quantile(0.5)), dropPriority: 4 },
  { title: "p95", of: ({ durations }) => duration(durations.quantile(0.95)), dropPriority: 3 },
  { title: "longest", of: ({ longest }) => duration(longest?.tookMs), dropPriority: 5 },
  {
    title: "at once",
    of: ({ maxConcurrent }) => (maxConcurrent > 1 ? count(maxConcurrent) : ""),
    isOptional: true,
    dropPriority: 6,
  },
];

const SHORTEST_NAME = 20;
const GAP = "  ";

/**
 * Returns the cells for each CronJob by column: number of runs, outcomes and durations. Optional columns without values
 * are omitted.
 */
export function summaryCells(groups: readonly DigestGroup[]): {
  readonly names: readonly string[];
  readonly columns: readonly { readonly column: Column; readonly texts: readonly string[] }[];
} {
  const lines = groups.filter(({ group }) => group.kind === "CronJob");
  return {
    names: lines.map(({ group: { namespace, name } }) => printable(`${namespace}/${name}`)),
    columns: COLUMNS.map((column) => ({ column, texts: lines.map(({ statistics }) => column.of(statistics)) })).filter(
      ({ column, texts }) => column.isOptional !== true || texts.some((text) => text !== "" && text !== "0"),
    ),
  };
}

/** Formats one line for each CronJob. */
export function summaryTable(groups: readonly DigestGroup[], { width, style }: SummaryOptions): string {
  const { names, columns } = summaryCells(groups);
  if (names.length === 0) return "";
  const cells = columns.map((each) => ({
    ...each,
    width: Math.max(each.column.title.length, ...each.texts.map(({ length }) => length)),
  }));
  const title = "CronJob";
  const longestName = Math.max(title.length, ...names.map(({ length }) => length));
  const roomForName = (): number => width - cells.reduce((sum, cell) => sum + GAP.length + cell.width, 0);
  while (roomForName() < Math.min(longestName, SHORTEST_NAME)) {
    const dropped = Math.max(...cells.map(({ column }) => column.dropPriority));
    if (dropped === 0) break;
    cells.splice(
      cells.findIndex(({ column }) => column.dropPriority === dropped),
      1,
    );
  }
  const nameWidth = Math.max(title.length, Math.min(longestName, roomForName()));
  const line = (name: string, texts: readonly string[]): string => [fit(name, nameWidth), ...texts].join(GAP).trimEnd();
  const head = line(
    title,
    cells.map((cell) => cell.column.title.padStart(cell.width)),
  );
  const body = names.map((name, row) =>
    line(
      name,
      cells.map(({ column, texts, width: cellWidth }) => {
        const text = texts[row]!;
        const shown = (text === "0" || text === "" ? "–" : text).padStart(cellWidth);
        return text === "0" || text === "" ? style.dim(shown) : (column.paint?.(style) ?? same)(shown);
      }),
    ),
  );
  return [style.bold(head), ...body].map((text) => `${text}\n`).join("");
}

function same(text: string): string {
  return text;
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}

function duration(durationMs: number | undefined): string {
  return durationMs === undefined ? "" : formatDuration(durationMs);
}

function fit(text: string, width: number): string {
  return (text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`).padEnd(width);
}

import { TimeZoneCache } from "@kubewright/cron";
import {
  type PodBar,
  isWithoutPods,
  rowTime,
  type RunRow,
  type SkippedRow,
  type TimelineGroup,
} from "@kubewright/timeline/data";

import { clockEffects, nextSlotMs } from "../time/clock-effects.js";
import { foldedText } from "../digest/folded-text.js";
import { type DigestGroup, type DigestRow, foldIdentical } from "../digest/run-digest.js";
import { formatDuration } from "../time/duration.js";
import { lateText, neverText, durationMsOf } from "./run-row-text.js";
import { type Style, printable, styleFor } from "./style.js";
import { TimeAxis } from "./time-axis.js";
import type { TimelineTotals } from "../timeline/totals.js";
import { zoneOf } from "../time/zone-of.js";
import { ZonedClock } from "../time/zoned-clock.js";

export interface TimelineTextOptions {
  readonly startMs: number;
  readonly endMs: number;
  /** Characters per line. */
  readonly width: number;
  readonly style: Style;
}

const LABEL_WIDTH = 18;
const INDENT = " ".repeat(LABEL_WIDTH);
/** Minimum and maximum width of a note beside a row, and its fraction of the terminal's width. */
const MIN_NOTE_WIDTH = 34;
const MAX_NOTE_WIDTH = 56;
const NOTE_SHARE = 0.47;
const MIN_AXIS_WIDTH = 20;

/**
 * Returns one block per CronJob, and per Job without a CronJob. A block has a heading, an axis, and a row per run with
 * its pods as bars. Skipped runs have their reason, and similar runs share a line. Times are in the CronJob's time
 * zone, for Jobs in UTC.
 */
export function timelineText(groups: readonly DigestGroup[], options: TimelineTextOptions): string {
  const zones = new TimeZoneCache();
  return groups.map((group) => groupText(group, { ...options, zones })).join("\n");
}

/** Returns the legend. Shapes show the outcome as well as colours. */
export function legend(style: Style): string {
  return `${style.green("█")} succeeded  ${style.red("▒")} failed  ${style.cyan("░")} running  ${style.dim("─")} waiting  ${style.yellow("×")} skipped`;
}

/** Options shared by all blocks. */
interface BlockOptions extends TimelineTextOptions {
  readonly zones: TimeZoneCache;
}

function groupText({ group, rows }: DigestGroup, options: BlockOptions): string {
  const { startMs, endMs, style, width, zones } = options;
  const noteWidth = Math.min(MAX_NOTE_WIDTH, Math.max(MIN_NOTE_WIDTH, Math.floor(width * NOTE_SHARE)));
  const axisWidth = Math.max(MIN_AXIS_WIDTH, width - LABEL_WIDTH - noteWidth);
  const [fromMs, toMs] = group.kind === "CronJob" ? [startMs, endMs] : span(rows, options);
  const clock = new ZonedClock(zoneOf(group), zones);
  const axis = new TimeAxis(fromMs, toMs, axisWidth, (timeMs) => clock.offsetMs(timeMs));
  const effects = group.cronJob === undefined ? undefined : clockEffects(group.cronJob, startMs, endMs, zones);
  const context: BlockContext = { ...options, group, axis, clock, repeated: effects?.repeated ?? new Map() };
  const lines = [heading(group, style), style.dim(`${labelText(clock.timeZone)}${axis.labels()}`)];
  for (const row of foldSkipped(foldIdentical(rows))) {
    if ("skipped" in row) lines.push(...skippedLines(row.skipped, context));
    else if (row.type === "run") lines.push(...runLines(row, context));
    else if (row.type === "skipped") lines.push(skippedLine(row, context));
    else lines.push(style.dim(`  ${foldedText(row, clock)}`));
  }
  if (rows.length === 0) lines.push(`  ${style.dim(noRunsText(group, options, clock))}`);
  return `${lines.join("\n")}\n`;
}

/** Context shared by the lines of one block. */
interface BlockContext extends BlockOptions {
  readonly group: TimelineGroup;
  readonly axis: TimeAxis;
  readonly clock: ZonedClock;
  readonly repeated: ReadonlyMap<number, string>;
}

function noRunsText({ cronJob }: TimelineGroup, { startMs, endMs, zones }: BlockOptions, clock: ZonedClock): string {
  if (cronJob === undefined || cronJob.suspend) return "no runs in this window";
  const next = nextSlotMs(cronJob, endMs, zones);
  if (nextSlotMs(cronJob, startMs, zones) === undefined) return neverText(startMs);
  return next === undefined ? "no runs in this window" : `no runs in this window; the next is due ${clock.brief(next)}`;
}

/** Maximum number of consecutive skipped runs with separate rows. Longer sequences take one row. */
const MAX_SKIPPED = 2;

/** Folds consecutive skipped runs with the same reason. */
function foldSkipped(rows: readonly DigestRow[]): (DigestRow | { readonly skipped: readonly SkippedRow[] })[] {
  const folded: (DigestRow | { readonly skipped: readonly SkippedRow[] })[] = [];
  for (let from = 0, to = 0; from < rows.length; from = to) {
    const sequence: SkippedRow[] = [];
    for (to = from; to < rows.length; to++) {
      const row = rows[to]!;
      if (row.type !== "skipped" || (sequence[0] ?? row).reason !== row.reason) break;
      sequence.push(row);
    }
    if (sequence.length > MAX_SKIPPED) folded.push({ skipped: sequence });
    else folded.push(...rows.slice(from, (to = Math.max(to, from + 1))));
  }
  return folded;
}

function heading({ kind, namespace, name, cronJob }: TimelineGroup, style: Style): string {
  const title = `${kind} ${printable(`${namespace}/${name}`)}`;
  if (cronJob === undefined) return style.bold(title);
  const facts = [
    JSON.stringify(cronJob.schedule),
    cronJob.timeZone ?? "UTC",
    cronJob.concurrencyPolicy ?? "Allow",
    ...(cronJob.suspend ? ["suspended"] : []),
  ];
  return `${style.bold(title)}  ${style.dim(printable(facts.join(" · ")))}`;
}

function span(rows: readonly DigestRow[], { startMs, endMs }: TimelineTextOptions): [number, number] {
  const runs = rows.filter((row) => row.type === "run");
  const from = Math.min(...runs.map(rowTime), endMs);
  const to = Math.max(...runs.map((row) => row.endMs ?? endMs), from + 1_000);
  return [Math.max(startMs, from), to];
}

function runLines(row: RunRow, context: BlockContext): string[] {
  const { group, axis, clock, repeated, endMs, width, style } = context;
  const label = group.kind === "CronJob" ? clock.short(rowTime(row)) : row.name;
  const remark = repeated.get(rowTime(row));
  const repeatedText = remark === undefined ? "" : `; ${remark}`;
  const note = {
    text: `${runNote(row, endMs, style)}${repeatedText}`,
    length: runNote(row, endMs, PLAIN).length + repeatedText.length,
  };
  const lanes = packLanes(row.pods, endMs);
  const laneTexts = lanes.slice(0, MAX_LANES).map((lane) => laneText(lane, row, axis, endMs, style));
  if (laneTexts.length === 0) laneTexts.push(laneText([], row, axis, endMs, style));
  const lines = laneTexts.map((bar, index) => `${index === 0 ? labelText(label) : INDENT}${bar}`);
  const hiddenPods = row.hiddenPods + lanes.slice(MAX_LANES).reduce((sum, lane) => sum + lane.length, 0);
  if (hiddenPods > 0) lines.push(`${INDENT}${style.dim(`… and ${hiddenPods} more pods; --json has them all`)}`);
  return withNote(lines, note, axis, width);
}

/** Maximum number of lines for concurrent pods. */
const MAX_LANES = 10;

/** Adds a note beside the first line, or below where it does not fit. */
function withNote(lines: readonly string[], note: Note, axis: TimeAxis, width: number): string[] {
  const fits = LABEL_WIDTH + axis.width + 1 + note.length <= width;
  const [first = "", ...rest] = lines;
  const all = fits ? [`${first} ${note.text}`, ...rest] : [...lines, `${INDENT}${note.text}`];
  return all.map((line) => line.trimEnd());
}

/** Coloured text, and its number of columns. */
interface Note {
  readonly text: string;
  readonly length: number;
}

/** Returns the row of a sequence of skipped runs: a mark in each of their columns, their number, and the last slot. */
function skippedLines(skipped: readonly SkippedRow[], { axis, clock, width, style }: BlockContext): string[] {
  const [{ slotMs: firstMs, reason }, { slotMs: lastMs }] = [skipped[0]!, skipped.at(-1)!];
  const cells = Array.from({ length: axis.width }, () => " ");
  for (const { slotMs } of skipped) cells[axis.column(slotMs)] = style.yellow("×");
  const unlisted = skipped.reduce((sum, row) => sum + (row.unlisted ?? 0), 0);
  const until = unlisted > 0 ? `, of which the last ${unlisted} are not drawn` : ` until ${clock.short(lastMs)}`;
  const text = `${skipped.length + unlisted} skipped${until}: ${printable(reason)}`;
  const line = `${labelText(clock.short(firstMs))}${cells.join("")}`;
  return withNote([line], { text: style.yellow(text), length: text.length }, axis, width);
}

/** Places the reason beside the mark: after it, or before it where there is more space. */
function skippedLine({ slotMs, reason }: SkippedRow, { axis, clock, width, style }: BlockContext): string {
  const column = axis.column(slotMs);
  const text = `skipped: ${printable(reason)}`;
  const roomAfter = width - LABEL_WIDTH - column - 2;
  const marked =
    text.length > roomAfter && text.length < column
      ? `${" ".repeat(column - text.length - 1)}${style.yellow(text)} ${style.yellow("×")}`
      : `${" ".repeat(column)}${style.yellow("×")} ${style.yellow(text)}`;
  return `${labelText(clock.short(slotMs))}${marked}`;
}

function runNote(row: RunRow, endMs: number, style: Style): string {
  const late = lateText(row) === "" ? "" : `, ${lateText(row)}`;
  const took = formatDuration(durationMsOf({ ...row, endMs: row.endMs ?? endMs })!);
  const pods = [row.succeeded > 0 ? `${row.succeeded} ok` : "", row.failed > 0 ? `${row.failed} failed` : ""]
    .filter(Boolean)
    .join(", ");
  const facts = pods === "" ? "" : ` (${pods})`;
  const removedText =
    row.removedMs === undefined || row.endMs === undefined
      ? ""
      : `, gone ${formatDuration(row.removedMs - row.endMs)} later`;
  const blocked = blockedText(row);
  switch (row.outcome) {
    case "Complete":
      return `${style.green("Complete")} in ${took}${facts}${late}${removedText}`;
    case "Failed":
      return `${style.red("Failed")} after ${took}${facts}: ${row.reason ?? "unknown"}${row.failedIndexes === undefined ? "" : ` [${row.failedIndexes}]`}${late}${removedText}${blocked === "" ? "" : `; ${blocked}`}`;
    case "Running":
      if (blocked !== "" && facts === "") return `${style.red(blocked)}; waiting for ${took}${late}`;
      return `${style.cyan("Running")} for ${took}${facts}${late}${blocked === "" ? "" : `, ${blocked}`}`;
    case "Suspended":
      return style.dim("Suspended");
    case "Deleted":
      return `${style.dim("Deleted")} after ${took}${facts}${late}${row.reason === undefined ? "" : `: ${printable(row.reason)}`}`;
    default:
      return row.outcome satisfies never;
  }
}

/** Returns why no pod of a run exists, or runs; empty when a pod runs or ran. */
function blockedText(row: RunRow): string {
  const { refusal, unschedulable, pods, hiddenPods } = row;
  if (isWithoutPods(row)) return `no pod created: ${printable(refusal!.text)}`;
  const hasStarted = hiddenPods > 0 || pods.some(({ startMs }) => startMs !== undefined);
  return unschedulable === undefined || hasStarted ? "" : `no pod scheduled: ${printable(unschedulable)}`;
}

/** Assigns overlapping pods to separate lanes, and pods of one completion index to the same lane if possible. */
function packLanes(pods: readonly PodBar[], endMs: number): PodBar[][] {
  const lanes: PodBar[][] = [];
  for (const pod of pods) {
    const free = lanes.filter((candidate) => barEnd(candidate.at(-1)!, endMs) <= pod.createdMs);
    const lane = free.find((candidate) => pod.index !== undefined && candidate.at(-1)!.index === pod.index) ?? free[0];
    if (lane === undefined) lanes.push([pod]);
    else lane.push(pod);
  }
  return lanes;
}

const PLAIN = styleFor(false);

const MARKS: Readonly<Record<PodBar["outcome"], string>> = { Succeeded: "█", Failed: "▒", Running: "░", Pending: "─" };

function laneText(lane: readonly PodBar[], row: RunRow, axis: TimeAxis, endMs: number, style: Style): string {
  const cells = Array.from({ length: axis.width }, () => " ");
  for (
    let column = axis.column(row.createdMs);
    lane.length === 0 && column <= axis.column(row.endMs ?? endMs);
    column++
  )
    cells[column] = style.dim("─");
  for (const pod of lane) {
    const paint = { Succeeded: style.green, Failed: style.red, Running: style.cyan, Pending: style.dim }[pod.outcome];
    const started = pod.startMs ?? barEnd(pod, endMs);
    for (let column = axis.column(pod.createdMs); column < axis.column(started); column++)
      cells[column] = style.dim("─");
    // The cell of an end belongs to the next pod if one starts there.
    const last = Math.max(axis.column(started), axis.column(barEnd(pod, endMs)) - 1);
    for (let column = axis.column(started); column <= last; column++) cells[column] = paint(MARKS[pod.outcome]);
  }
  return cells.join("");
}

function barEnd(pod: PodBar, endMs: number): number {
  return pod.endMs ?? endMs;
}

function labelText(label: string): string {
  return `  ${fit(label, LABEL_WIDTH - 2)}`;
}

function fit(text: string, width: number): string {
  const shown = printable(text);
  return (shown.length < width ? shown : `${shown.slice(0, width - 2)}…`).padEnd(width);
}

/** Returns the totals and the warnings. */
export function summaryText({ totals }: { readonly totals: TimelineTotals }, style: Style): string {
  const lines = [
    `${style.bold("Jobs")}  ${totals.jobs} run, ${style.green(`${totals.jobsComplete} complete`)}, ${paintCount(totals.jobsFailed, "failed", style.red)}, ${paintCount(totals.runsSkipped, "skipped", style.yellow)}`,
    `${style.bold("Pods")}  ${totals.pods} started, ${style.green(`${totals.podsSucceeded} succeeded`)}, ${paintCount(totals.podsFailed, "failed", style.red)}`,
  ];
  const warnings = [...totals.warnings]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([what, count]) => `${what} ×${count}`);
  if (warnings.length > 0) lines.push(`${style.bold("Warning events")}  ${printable(warnings.join(", "))}`);
  return `${lines.join("\n")}\n`;
}

function paintCount(count: number, word: string, paint: (text: string) => string): string {
  const text = `${count} ${word}`;
  return count > 0 ? paint(text) : text;
}

import { formatTime } from "@kubewright/api";

import { formatDuration } from "../time/duration.js";
import { lateText, skipText } from "../text/run-row-text.js";
import { type Style, printable } from "../text/style.js";
import { ZonedClock } from "../time/zoned-clock.js";
import {
  type Comparison,
  type GroupComparison,
  type RunCounts,
  type RunDifference,
  durationOf,
} from "./compare-runs.js";
import type { ManifestChange } from "./manifest-changes.js";
import type { RunRecord } from "./run-records.js";

export interface ComparisonTextOptions {
  /** Characters per line. */
  readonly width: number;
  readonly style: Style;
}

/** Maximum number of differences that are shown for one CronJob; the others are counted. */
const MAX_SHOWN = 40;
/** Maximum number of changed fields that are shown for one object. */
const MAX_CHANGES = 12;
/** `~ 2026-03-28 10:00  ` */
const SLOT_WIDTH = 20;
/** Minimum width of a side; below it the two sides are on separate lines. */
const NARROWEST_SIDE = 24;

const MARKS = { onlyA: "-", onlyB: "+", different: "~" } as const;

/** Formats one block for each CronJob and Job that differs, then totals. */
export function comparisonText(
  { groups, totals, untilMs }: Comparison,
  changes: readonly ManifestChange[],
  options: ComparisonTextOptions,
): string {
  const { style } = options;
  const shown = groups.filter(({ differences, kind, namespace, name }) => {
    const object = `${kind} ${namespace}/${name}`;
    return differences.length > 0 || changes.some((change) => change.object === object);
  });
  const blocks = shown.map((group) => groupText(group, changes, options));
  const equal = groups.length - shown.length;
  const lines = [
    ...(equal > 0 ? [style.dim(`${equal} other${equal === 1 ? " does" : "s do"} the same in both`)] : []),
    ...(untilMs === undefined
      ? []
      : [style.yellow(`compared up to ${formatTime(untilMs)} only: there are more runs than are kept`)]),
    `${style.bold("Runs")}  ${countsText(totals, style)}`,
  ];
  return `${blocks.map((block) => `${block}\n`).join("")}${lines.join("\n")}\n`;
}

/** Explains the marks. */
export function comparisonLegend(style: Style): string {
  return `${style.red("-")} only in A  ${style.green("+")} only in B  ${style.yellow("~")} in both, but different`;
}

function groupText(group: GroupComparison, changes: readonly ManifestChange[], options: ComparisonTextOptions): string {
  const { style, width } = options;
  const object = `${group.kind} ${group.namespace}/${group.name}`;
  const only = { both: "", a: "  only in A", b: "  only in B" }[group.presentIn];
  const own = changes.filter((change) => change.object === object);
  const clock = new ZonedClock(group.timeZone);
  const zone = group.kind === "CronJob" ? `  slots in ${clock.timeZone}` : "";
  const lines = [`${style.bold(printable(object))}${style.dim(`${only}${zone}`)}`];
  for (const { field, before, after } of own.slice(0, MAX_CHANGES))
    lines.push(clip(printable(`  ${field}: ${valueText(before)} → ${valueText(after)}`), width));
  if (own.length > MAX_CHANGES) lines.push(`  … and ${own.length - MAX_CHANGES} more fields`);
  const room = Math.floor((width - SLOT_WIDTH - 2) / 2);
  const shown = group.differences.slice(0, MAX_SHOWN);
  // The left column is as wide as its longest text. A narrow terminal has no columns.
  const longest = Math.max(NARROWEST_SIDE, ...shown.map((difference) => sideText(difference, "a").length));
  const side = Math.min(room, longest);
  if (group.differences.length > 0 && side >= NARROWEST_SIDE)
    lines.push(style.dim(`  ${"slot".padEnd(SLOT_WIDTH - 2)}${"A".padEnd(side)}  B`));
  for (const difference of group.differences.slice(0, MAX_SHOWN))
    lines.push(...differenceLines(difference, { side, clock }, options));
  const rest = group.differences.length - MAX_SHOWN;
  if (rest > 0) lines.push(style.dim(`  … and ${rest} more differences; --json has them all`));
  lines.push(`  ${countsText(group.counts, style)}`);
  return `${lines.join("\n")}\n`;
}

export function valueText(value: unknown): string {
  return value === undefined ? "not set" : JSON.stringify(value);
}

function differenceLines(
  difference: RunDifference,
  { side, clock }: { readonly side: number; readonly clock: ZonedClock },
  { style, width }: ComparisonTextOptions,
): string[] {
  const { type, slotMs } = difference;
  const mark = { onlyA: style.red, onlyB: style.green, different: style.yellow }[type](MARKS[type]);
  const [a, b] = [sideText(difference, "a"), sideText(difference, "b")];
  const slot = clock.rfc3339(slotMs).slice(0, 16).replace("T", " ");
  if (side < NARROWEST_SIDE) return [`${mark} ${slot}`, clip(`    A  ${a}`, width), clip(`    B  ${b}`, width)];
  return [
    `${mark} ${slot.padEnd(SLOT_WIDTH - 2)}${clip(a, side).padEnd(side)}  ${clip(b, width - SLOT_WIDTH - side - 2)}`.trimEnd(),
  ];
}

const ABSENT = {
  noSuchObject: "–",
  notScheduled: "not scheduled",
  notStarted: "not started",
} as const;

/** Returns the outcome of the run on one side, or why there is no run. */
export function sideText(difference: RunDifference, side: "a" | "b"): string {
  const run = difference[side];
  if (run === undefined) return ABSENT[difference.absent ?? "notStarted"];
  return printable(runText(run));
}

function runText(run: RunRecord): string {
  const { outcome, skipped, blockedBy, slotMs, createdMs = slotMs, failedPods, reason, refusedStatuses } = run;
  if (outcome === "Skipped") return `skipped: ${skipped === undefined ? "unknown" : skipText(skipped, blockedBy)}`;
  const took = durationOf(run);
  const late = lateText({ slotMs, createdMs });
  const failures = failedPods > 0 ? `, ${failedPods} pod${failedPods === 1 ? "" : "s"} failed` : "";
  const refused = refusedStatuses === undefined ? "" : ", status refused";
  const time = took === undefined ? "" : ` ${outcome === "Complete" ? "in" : "after"} ${formatDuration(took)}`;
  const why = reason === undefined ? "" : `: ${reason}`;
  return `${outcome}${time}${why}${late === "" ? "" : `, ${late}`}${failures}${refused}`;
}

function countsText({ a, b, same, different, onlyA, onlyB }: RunCounts, style: Style): string {
  const paint = (count: number, what: string, colour: (text: string) => string): string =>
    count > 0 ? colour(`${count} ${what}`) : `${count} ${what}`;
  return [
    `${a} in A, ${b} in B: ${same} the same`,
    paint(different, "different", style.yellow),
    paint(onlyA, "only in A", style.red),
    paint(onlyB, "only in B", style.green),
  ].join(", ");
}

function clip(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}

import type { Comparison, GroupComparison } from "../compare/compare-runs.js";
import { sideText, valueText } from "../compare/comparison-text.js";
import type { ManifestChange } from "../compare/manifest-changes.js";
import type { DigestGroup } from "../digest/run-digest.js";
import { summaryCells } from "../digest/summary-table.js";
import { CHANCE_HEAD, chanceRows, nothingText } from "../futures/futures-text.js";
import type { FuturesStatistics } from "../futures/futures-statistics.js";
import { type Violation, violationText } from "../fail-on/rule-counts.js";
import { printable } from "../text/style.js";
import { ZonedClock } from "../time/zoned-clock.js";
import type { Highlight } from "./check-report.js";

/**
 * Maximum number of lines in a table or a list, because the size of a pull request comment is limited. Further lines
 * are counted.
 */
const MAX_LINES = 50;

/** Returns the comment for one future: the runs, the highlights and the violated rules. */
export function runMarkdown(
  title: string,
  groups: readonly DigestGroup[],
  { violations, highlights }: { readonly violations: readonly Violation[]; readonly highlights: readonly Highlight[] },
): string {
  const { names, columns } = summaryCells(groups);
  const rows = names.map((name, row) => [name, ...columns.map(({ texts }) => texts[row]! || "–")]);
  return document(title, [
    brokenRules(violations),
    list(
      "Highlights",
      highlights.map(({ object, text }) => `${code(object)}: ${escaped(text)}`),
    ),
    rows.length === 0 ? "" : table(["CronJob", ...columns.map(({ column }) => column.title)], rows),
  ]);
}

/** Returns the comment for many futures: how often each kind of incident occurs. */
export function futuresMarkdown(
  title: string,
  statistics: FuturesStatistics,
  violations: readonly Violation[],
): string {
  const rows = chanceRows(statistics);
  return document(title, [
    brokenRules(violations),
    rows.length === 0 ? escaped(nothingText(statistics)) : table(CHANCE_HEAD, rows),
  ]);
}

/** Returns the comment for a comparison: the runs that differ. */
export function comparisonMarkdown(
  title: string,
  { groups, totals }: Comparison,
  changes: readonly ManifestChange[],
  violations: readonly Violation[],
): string {
  const differing = groups.filter(({ differences }) => differences.length > 0);
  const { same, different, onlyA, onlyB } = totals;
  const counts = [`${same} the same`, `${different} different`, `${onlyA} only before`, `${onlyB} only after`];
  return document(title, [
    brokenRules(violations),
    differing.length === 0 ? "All runs are the same." : `Runs: ${counts.join(", ")}.`,
    list(
      "Changed",
      changes.map(
        ({ object, field, before, after }) =>
          `${code(`${object} ${field}`)}: ${code(valueText(before))} → ${code(valueText(after))}`,
      ),
    ),
    ...differing.slice(0, MAX_LINES).map(differenceTable),
    differing.length > MAX_LINES ? `… and ${differing.length - MAX_LINES} more CronJobs and Jobs.` : "",
  ]);
}

const MAX_DIFFERENCES = 20;

function differenceTable({ kind, namespace, name, timeZone, differences }: GroupComparison): string {
  const clock = new ZonedClock(timeZone);
  const rows = differences
    .slice(0, MAX_DIFFERENCES)
    .map((difference) => [clock.brief(difference.slotMs), sideText(difference, "a"), sideText(difference, "b")]);
  const more = differences.length - MAX_DIFFERENCES;
  const rest = more > 0 ? `\n\n… and ${more.toLocaleString("en-US")} more.` : "";
  return `**${kind} ${escaped(`${namespace}/${name}`)}**\n\n${table(["slot", "before", "after"], rows)}${rest}`;
}

function brokenRules(violations: readonly Violation[]): string {
  return list(
    "Broken rules",
    violations.map((violation) => escaped(violationText(violation))),
  );
}

function document(title: string, blocks: readonly string[]): string {
  return `${[`### kubewright: ${escaped(title)}`, ...blocks].filter((block) => block !== "").join("\n\n")}\n`;
}

function list(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return "";
  const more = lines.length - MAX_LINES;
  const shown = lines.slice(0, MAX_LINES).map((line) => `- ${line}`);
  return [`**${title}**`, "", ...shown, ...(more > 0 ? [`- … and ${more.toLocaleString("en-US")} more`] : [])].join(
    "\n",
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escaped).join(" | ")} |`;
  const more = rows.length - MAX_LINES;
  const rest = more > 0 ? [line([`… and ${more.toLocaleString("en-US")} more`, ...head.slice(1).map(() => "")])] : [];
  return [line(head), `|${" --- |".repeat(head.length)}`, ...rows.slice(0, MAX_LINES).map(line), ...rest].join("\n");
}

/** Escapes a text, so that it contains no markup, link or mention. */
function escaped(text: string): string {
  return printable(text)
    .replace(/[\\`*_{}[\]<>|~#&]/g, (character) =>
      character === "<" ? "&lt;" : character === "&" ? "&amp;" : `\\${character}`,
    )
    .replaceAll("@", "@\u200B");
}

function code(text: string): string {
  return `\`${printable(text).replaceAll("`", "'").replaceAll("|", "¦")}\``;
}

import { type Style, printable } from "../text/style.js";
import { wrap } from "../why/text-block.js";
import type { DigestGroup } from "./run-digest.js";
import { summaryTable } from "./summary-table.js";
import { findHighlights } from "./highlights.js";

export interface SummaryTextOptions {
  readonly startMs: number;
  /** Characters per line. */
  readonly width: number;
  readonly style: Style;
}

/** Maximum number of highlights that are listed; the others are counted. */
const MAX_HIGHLIGHTS = 20;

/** Formats the block above the rows: a table of the CronJobs, and the highlights. Empty when there is neither. */
export function summaryBlock(groups: readonly DigestGroup[], options: SummaryTextOptions): string {
  const { style, width, startMs } = options;
  const highlights = findHighlights(groups, startMs);
  const lines = highlights.slice(0, MAX_HIGHLIGHTS).flatMap(({ object, text }) => {
    const [first = "", ...rest] = wrap(printable(`${object}: ${text}`), width - 2);
    return [first, ...rest].map((line) => `  ${line}`);
  });
  const more = highlights.length - MAX_HIGHLIGHTS;
  if (more > 0) lines.push(style.dim(`  … and ${more} more`));
  const look = lines.length === 0 ? "" : `${style.bold("Highlights")}\n${lines.join("\n")}\n`;
  return [summaryTable(groups, options), look].filter((block) => block !== "").join("\n");
}

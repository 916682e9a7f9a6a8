import type { Style } from "../text/style.js";
import { printable } from "../text/style.js";

export interface TextOptions {
  readonly style: Style;
  /** Characters per line. */
  readonly width: number;
}

const LABEL_WIDTH = 10;
/** Minimum width, for any terminal. */
const MIN_WIDTH = 30;

/**
 * Returns lines with a label before the first, each wrapped between words to the width. Control characters are escaped,
 * because the text may be untrusted.
 */
export function block(
  label: string,
  lines: readonly string[],
  { style, width }: TextOptions,
  paint: (text: string) => string = (text) => text,
): string {
  if (lines.length === 0) return "";
  const room = Math.max(MIN_WIDTH, width - LABEL_WIDTH);
  const wrapped = lines.flatMap((line) => wrap(printable(line), room));
  return wrapped
    .map((line, index) => {
      const head =
        index === 0
          ? `${style.bold(label)}${" ".repeat(Math.max(1, LABEL_WIDTH - label.length))}`
          : " ".repeat(LABEL_WIDTH);
      return `${head}${paint(line)}`.trimEnd();
    })
    .join("\n")
    .concat("\n");
}

/** Wraps text between words. Continuation lines are indented by two. A word longer than a line is not broken. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  // Leading and inner alignment stays: only lines that are too long are broken.
  let rest = text;
  while (rest.length > width) {
    const cut = rest.lastIndexOf(" ", width);
    const indentEnd = rest.length - rest.trimStart().length;
    if (cut <= indentEnd) break;
    lines.push(rest.slice(0, cut).trimEnd());
    rest = `  ${rest.slice(cut + 1).trimStart()}`;
  }
  lines.push(rest);
  return lines;
}

/** Returns rows as aligned columns, each as wide as its widest cell. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, cell.length)));
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index]!))
      .join("  ")
      .trimEnd(),
  );
}

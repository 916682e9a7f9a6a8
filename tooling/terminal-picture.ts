/**
 * Draws colored terminal output as an SVG, for the README:
 *
 *     FORCE_COLOR=1 COLUMNS=110 npm start --silent | node tooling/terminal-picture.ts > docs/images/timeline.svg
 */
import { readFileSync } from "node:fs";

const CELL_WIDTH = 7.8;
const LINE_HEIGHT = 17;
const PADDING = 16;
const COLOURS: Readonly<Record<number, string>> = { 31: "#ff7b72", 32: "#3fb950", 33: "#d29922", 36: "#39c5cf" };
const FOREGROUND = "#c9d1d9";

interface Run {
  readonly column: number;
  readonly text: string;
  readonly colour: string;
  readonly bold: boolean;
  readonly dim: boolean;
}

const lines = readFileSync(0, "utf8").trimEnd().split("\n").map(parseLine);
const columns = Math.max(
  ...lines.map((runs) => runs.reduce((width, run) => Math.max(width, run.column + run.text.length), 0)),
);
const width = Math.ceil(columns * CELL_WIDTH + 2 * PADDING);
const height = lines.length * LINE_HEIGHT + 2 * PADDING;
const texts = lines.flatMap((runs, row) => runs.map((run) => drawRun(run, row)));
process.stdout.write(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Terminal output of kubewright run">\n` +
    `<rect width="100%" height="100%" rx="8" fill="#0d1117"/>\n` +
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13" xml:space="preserve">\n${texts.join("\n")}\n</g>\n</svg>\n`,
);

function parseLine(line: string): Run[] {
  const runs: Run[] = [];
  let style = { colour: FOREGROUND, bold: false, dim: false };
  let column = 0;
  for (const part of line.split(/(\u001B\[[\d;]*m)/)) {
    const codes = /^\u001B\[([\d;]*)m$/.exec(part)?.[1]?.split(";").map(Number);
    if (codes !== undefined) {
      for (const code of codes) style = applied(style, code);
    } else if (part !== "") {
      for (const { 0: text, index } of part.matchAll(/\S+(?: \S+)*/g))
        append(runs, { column: column + index, text, ...style });
      column += part.length;
    }
  }
  return runs;
}

/** Appends a run. Adjacent runs of one style are merged, so that a bar is one rectangle. */
function append(runs: Run[], run: Run): void {
  const last = runs.at(-1);
  const touches = last !== undefined && last.column + last.text.length === run.column && last.colour === run.colour;
  if (touches && last.bold === run.bold && last.dim === run.dim && last.text.at(-1) === run.text[0]) {
    runs[runs.length - 1] = { ...last, text: last.text + run.text };
  } else runs.push(run);
}

function applied(style: { colour: string; bold: boolean; dim: boolean }, code: number): typeof style {
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code === 39) return { ...style, colour: FOREGROUND };
  return { ...style, colour: COLOURS[code] ?? style.colour };
}

/**
 * Draws a run. Bars are rectangles, which look the same in every font; other text is stretched to the width of its
 * cells.
 */
function drawRun({ column, text, colour, bold, dim }: Run, row: number): string {
  const x = PADDING + column * CELL_WIDTH;
  const y = PADDING + row * LINE_HEIGHT;
  const length = text.length * CELL_WIDTH;
  const opacity = dim ? 0.6 : 1;
  if (/^[█▒░]+$/.test(text)) {
    const fill = text.startsWith("█") ? 1 : text.startsWith("▒") ? 0.6 : 0.35;
    return `<rect x="${x.toFixed(1)}" y="${y + 3}" width="${length.toFixed(1)}" height="${LINE_HEIGHT - 5}" fill="${colour}" fill-opacity="${fill}"/>`;
  }
  const escaped = text.replace(/[&<>]/g, (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[character]!);
  return `<text x="${x.toFixed(1)}" y="${y + 13}" textLength="${length.toFixed(1)}" fill="${colour}" opacity="${opacity}"${bold ? ' font-weight="bold"' : ""}>${escaped}</text>`;
}

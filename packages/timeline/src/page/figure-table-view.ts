import type { Figure, FigureCell, FigureTable, Moment } from "../data/figure-table.js";
import { h, addListener } from "./dom.js";
import { svg } from "./svg.js";

/** Maximum number of displayed rows. Further rows are only counted. */
const MAX_ROWS = 2_000;
const BAR = { width: 96, height: 12 };

/** Renders a table of figures. Figures with a moment link to it. @param open - Absent when figures have no links. */
export function figureTableView(table: FigureTable, open?: (moment: Moment) => void): HTMLElement {
  const { title, note, head, rows, isNumeric } = table;
  const shown = rows.slice(0, MAX_ROWS);
  const left = rows.length - shown.length;
  return h(
    "section",
    { class: "figures" },
    h("h2", {}, title),
    note !== undefined && h("p", { class: "muted" }, note),
    h(
      "div",
      // A table wider than the screen scrolls, also with the keyboard.
      { class: "wide", role: "region", "aria-label": title, tabindex: 0 },
      h(
        "table",
        { class: isNumeric && "numeric" },
        h(
          "thead",
          {},
          h("tr", {}, ...head.map((text) => (text === "" ? h("td", {}) : h("th", { scope: "col" }, text)))),
        ),
        ...sections(shown).map((section) =>
          h("tbody", {}, ...section.map((row, index) => line(row, section, index, open))),
        ),
      ),
    ),
    left > 0 && h("p", { class: "muted" }, `and ${left.toLocaleString("en")} more; --json has them all`),
  );
}

type Row = readonly FigureCell[];

/** Groups consecutive rows with the same name. */
function sections(rows: readonly Row[]): Row[][] {
  const found: Row[][] = [];
  for (const row of rows) {
    const latest = found.at(-1);
    if (latest !== undefined && textOf(latest[0]![0]!) === textOf(row[0]!)) latest.push(row);
    else found.push([row]);
  }
  return found;
}

function line(
  row: Row,
  section: readonly Row[],
  index: number,
  open: ((moment: Moment) => void) | undefined,
): HTMLElement {
  const [name = "", ...cells] = row;
  const span = section.length > 1 ? { scope: "rowgroup", rowspan: section.length } : { scope: "row" };
  return h(
    "tr",
    {},
    ...(index > 0 ? [] : [h("th", span, textOf(name))]),
    ...cells.map((cell) =>
      typeof cell === "string"
        ? h("td", {}, cell)
        : h("td", { class: cell.share !== undefined && "figure" }, ...figure(cell, open)),
    ),
  );
}

function figure({ text, share, moment }: Figure, open: ((moment: Moment) => void) | undefined): (Node | string)[] {
  const shown =
    moment === undefined || open === undefined
      ? text
      : addListener(h("button", { type: "button", class: "link", title: `Show seed ${moment.seed}` }, text), {
          onclick: () => open(moment),
        });
  return share === undefined ? [shown] : [intervalBar(share), shown];
}

/** Draws the share as a dot and its interval as a line, on a scale from 0 to 1. */
function intervalBar({ share, low, high }: NonNullable<Figure["share"]>): SVGSVGElement {
  const { width, height } = BAR;
  const x = (value: number): number => 3 + value * (width - 6);
  const y = height / 2;
  return svg(
    "svg",
    { class: "interval", width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    svg("line", { class: "track", x1: x(0), x2: x(1), y1: y, y2: y }),
    svg("line", { class: "bounds", x1: x(low), x2: x(high), y1: y, y2: y }),
    svg("circle", { class: "share", cx: x(share), cy: y, r: 3 }),
  );
}

function textOf(cell: FigureCell): string {
  return typeof cell === "string" ? cell : cell.text;
}

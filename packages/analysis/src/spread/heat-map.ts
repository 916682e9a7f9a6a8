import type { LoadRow } from "@kubewright/timeline/data";

import { coresText, memoryText } from "../text/requests-text.js";
import type { Style } from "../text/style.js";
import { type LoadCurves, MEASURES, type Measure, maxBy } from "./load-curves.js";
import { omittedDays, loadMaps } from "./load-maps.js";

const SHADES = ["·", "░", "▒", "▓", "█"];
const BARS = " ▁▂▃▄▅▆▇█";
const HOUR = 60;

export const MEASURE_TITLES: Readonly<Record<Measure, string>> = {
  starts: "starts",
  pods: "pods at once",
  cpu: "cores requested",
  memory: "memory requested",
};

/** Returns a level as short text: `12 cores`. */
function levelText(measure: Measure, level: number): string {
  if (measure === "cpu") return coresText(level);
  if (measure === "memory") return memoryText(level);
  return level.toLocaleString("en-US");
}

/** Returns a line for each measure: the maximum at each minute of the hour, over all hours. */
export function minuteStrips(curves: LoadCurves, style: Style): string {
  const lines = MEASURES.filter((measure) => curves[measure].some((level) => level > 0)).map((measure) => {
    const levels = maxBy(curves[measure], (minute) => minute % HOUR, HOUR);
    const max = Math.max(...levels);
    const bars = levels.map((level) => bar(level, max)).join("");
    const at = levels.indexOf(max);
    return `  ${MEASURE_TITLES[measure].padEnd(TITLE)}${bars}  ${levelText(measure, max)} at :${String(at).padStart(2, "0")}`;
  });
  return `${style.bold("By minute of the hour")}${style.dim(", the most in any hour")}\n${[`${" ".repeat(TITLE + 2)}${RULER}`, ...lines].join("\n")}\n`;
}

const TITLE = 18;
const RULER = Array.from({ length: 6 }, (_, index) => `:${String(index * 10).padEnd(9, " ")}`)
  .join("")
  .replace(":0 ", ":00");

/**
 * Returns the map of one measure: a line for each hour of the day, with a character for each minute. For several days
 * it adds a line per day, by hour.
 */
export function heatMap(measure: Measure, curves: LoadCurves, startMs: number, style: Style): string {
  const curve = curves[measure];
  const { byHour, byDay } = loadMaps(curve, startMs);
  const max = maxOf(byHour);
  const title = `${style.bold(`${MEASURE_TITLES[measure][0]!.toUpperCase()}${MEASURE_TITLES[measure].slice(1)} by hour`)}${style.dim(`, UTC; ${SHADES.join(" ")} up to ${levelText(measure, max)}`)}`;
  const lines = byHour.map((row) => rowText(measure, row, { max, style }));
  return `${[title, `${" ".repeat(TITLE + 2)}${RULER}`, ...lines].join("\n")}\n${dayLines(measure, byDay, omittedDays(curve, startMs), style)}`;
}

function maxOf(rows: readonly LoadRow[]): number {
  return Math.max(...rows.flatMap(({ levels }) => levels));
}

function rowText(
  measure: Measure,
  { label, levels }: LoadRow,
  { max, style, cellWidth = 1 }: { readonly max: number; readonly style: Style; readonly cellWidth?: number },
): string {
  const highest = Math.max(...levels);
  const cells = levels.map((level) => shade(level, max, style).repeat(cellWidth)).join("");
  return `  ${label.padEnd(TITLE)}${cells}  ${highest === 0 ? "" : levelText(measure, highest)}`.trimEnd();
}

function dayLines(measure: Measure, rows: readonly LoadRow[], omittedDays: number, style: Style): string {
  if (rows.length === 0) return "";
  const max = maxOf(rows);
  const lines = rows.map((row) => rowText(measure, row, { max, style, cellWidth: 2 }));
  const more = omittedDays > 0 ? [`  and ${omittedDays} more days`] : [];
  const ruler = Array.from({ length: 8 }, (_, index) =>
    String(index * 3)
      .padStart(2, "0")
      .padEnd(6),
  )
    .join("")
    .trimEnd();
  return `${[style.bold("By day and hour"), `${" ".repeat(TITLE + 2)}${ruler}`, ...lines, ...more].join("\n")}\n`;
}

function bar(level: number, max: number): string {
  return level === 0 || max === 0 ? BARS[0]! : BARS[Math.max(1, Math.round((level / max) * (BARS.length - 1)))]!;
}

function shade(level: number, max: number, style: Style): string {
  if (level === 0 || max === 0) return style.dim(SHADES[0]!);
  const index = Math.max(1, Math.ceil((level / max) * (SHADES.length - 1)));
  const text = SHADES[index]!;
  return index === SHADES.length - 1 ? style.red(text) : index === SHADES.length - 2 ? style.yellow(text) : text;
}

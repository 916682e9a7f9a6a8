import { formatTime } from "@kubewright/api";

import { coresText, memoryText } from "../requests-text.js";
import type { Style } from "../style.js";
import { type LoadCurves, MEASURES, type Measure, mostBy } from "./load-curves.js";

const SHADES = ["·", "░", "▒", "▓", "█"];
const BARS = " ▁▂▃▄▅▆▇█";
const HOUR = 60;
const DAY = 24 * HOUR;
/** Days that have a line of their own; of more, the first. */
const MOST_DAYS = 31;

export const MEASURE_TITLES: Readonly<Record<Measure, string>> = {
  starts: "starts",
  pods: "pods at once",
  cpu: "cores requested",
  memory: "memory requested",
};

/** `12 cores` in few characters. */
function levelText(measure: Measure, level: number): string {
  if (measure === "cpu") return coresText(level);
  if (measure === "memory") return memoryText(level);
  return level.toLocaleString("en-US");
}

/** A line for each measure: the most there is at each minute of the hour, whatever the hour. */
export function minuteStrips(curves: LoadCurves, style: Style): string {
  const lines = MEASURES.filter((measure) => curves[measure].some((level) => level > 0)).map((measure) => {
    const levels = mostBy(curves[measure], (minute) => minute % HOUR, HOUR);
    const most = Math.max(...levels);
    const bars = levels.map((level) => bar(level, most)).join("");
    const at = levels.indexOf(most);
    return `  ${MEASURE_TITLES[measure].padEnd(TITLE)}${bars}  ${levelText(measure, most)} at :${String(at).padStart(2, "0")}`;
  });
  return `${style.bold("By minute of the hour")}${style.dim(", the most in any hour")}\n${[`${" ".repeat(TITLE + 2)}${RULER}`, ...lines].join("\n")}\n`;
}

const TITLE = 18;
const RULER = Array.from({ length: 6 }, (_, index) => `:${String(index * 10).padEnd(9, " ")}`)
  .join("")
  .replace(":0 ", ":00");

/** One measure: a line for every hour of the day, a character for every minute; and of several days a line for each, by the hour. */
export function heatMap(measure: Measure, curves: LoadCurves, startMs: number, style: Style): string {
  const curve = curves[measure];
  const firstMinute = Math.floor((startMs % 86_400_000) / 60_000);
  const byMinute = mostBy(curve, (minute) => (minute + firstMinute) % DAY, DAY);
  const most = Math.max(...byMinute);
  const hours = Math.min(24, Math.ceil(curve.length / HOUR));
  const firstHour = hours < 24 ? firstMinute / HOUR : 0;
  const lines = Array.from({ length: hours }, (_, index) => {
    const hour = (firstHour + index) % 24;
    const levels = byMinute.slice(hour * HOUR, (hour + 1) * HOUR);
    const highest = Math.max(...levels);
    return `  ${`${String(hour).padStart(2, "0")}:00`.padEnd(TITLE)}${levels.map((level) => shade(level, most, style)).join("")}  ${highest === 0 ? "" : levelText(measure, highest)}`.trimEnd();
  });
  const title = `${style.bold(`${MEASURE_TITLES[measure][0]!.toUpperCase()}${MEASURE_TITLES[measure].slice(1)} by hour`)}${style.dim(`, UTC; ${SHADES.join(" ")} up to ${levelText(measure, most)}`)}`;
  return `${[title, `${" ".repeat(TITLE + 2)}${RULER}`, ...lines].join("\n")}\n${dayLines(measure, curve, startMs, style)}`;
}

function dayLines(measure: Measure, curve: Float64Array, startMs: number, style: Style): string {
  const firstMinute = Math.floor((startMs % 86_400_000) / 60_000);
  const days = Math.ceil((curve.length + firstMinute) / DAY);
  if (days < 2) return "";
  const byHour = mostBy(curve, (minute) => Math.floor((minute + firstMinute) / HOUR), days * 24);
  const most = Math.max(...byHour);
  const lines = Array.from({ length: Math.min(days, MOST_DAYS) }, (_, day) => {
    const levels = byHour.slice(day * 24, (day + 1) * 24);
    const highest = Math.max(...levels);
    const date = formatTime(startMs + day * 86_400_000).slice(0, 10);
    return `  ${`${date} ${weekday(startMs + day * 86_400_000)}`.padEnd(TITLE)}${levels.map((level) => shade(level, most, style).repeat(2)).join("")}  ${highest === 0 ? "" : levelText(measure, highest)}`.trimEnd();
  });
  const more = days > MOST_DAYS ? [`  and ${days - MOST_DAYS} more days`] : [];
  const ruler = Array.from({ length: 8 }, (_, index) =>
    String(index * 3)
      .padStart(2, "0")
      .padEnd(6),
  )
    .join("")
    .trimEnd();
  return `${[style.bold("By day and hour"), `${" ".repeat(TITLE + 2)}${ruler}`, ...lines, ...more].join("\n")}\n`;
}

function weekday(timeMs: number): string {
  return new Date(timeMs).toUTCString().slice(0, 3);
}

function bar(level: number, most: number): string {
  return level === 0 || most === 0 ? BARS[0]! : BARS[Math.max(1, Math.round((level / most) * (BARS.length - 1)))]!;
}

function shade(level: number, most: number, style: Style): string {
  if (level === 0 || most === 0) return style.dim(SHADES[0]!);
  const place = Math.max(1, Math.ceil((level / most) * (SHADES.length - 1)));
  const text = SHADES[place]!;
  return place === SHADES.length - 1 ? style.red(text) : place === SHADES.length - 2 ? style.yellow(text) : text;
}

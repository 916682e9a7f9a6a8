import type { TimeScale } from "./time-scale.js";
import type { ZonedTime } from "./zoned-time.js";

export type CalendarUnit = "minute" | "hour" | "day" | "week" | "month" | "year";

/** Intervals of the local calendar: minutes, hours, days, weeks from Monday, months or years. */
export interface CalendarBins {
  /** `hour`, or several of them: `5 minutes`. */
  readonly unit: string;
  /** Ascending. Each interval ends where the next one begins. */
  readonly edgesMs: readonly number[];
}

interface Step {
  readonly unit: CalendarUnit;
  /** Number of units in an interval. */
  readonly count: number;
  /** Usual length. */
  readonly ms: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS: readonly Step[] = [
  ...[1, 5, 15].map((count): Step => ({ unit: "minute", count, ms: count * MINUTE })),
  { unit: "hour", count: 1, ms: HOUR },
  { unit: "day", count: 1, ms: DAY },
  { unit: "week", count: 1, ms: 7 * DAY },
  { unit: "month", count: 1, ms: 30 * DAY },
  { unit: "year", count: 1, ms: 365 * DAY },
];
/** Minimum width of an interval. */
const BIN_PX = 15;

/** Returns the shortest intervals that are wide enough to show a number. */
export function calendarBins(scale: TimeScale, zone: ZonedTime): CalendarBins {
  const { fromMs, toMs, width } = scale;
  const pxOf = ({ ms }: Step): number => (ms / (toMs - fromMs)) * width;
  const step = STEPS.find((each) => pxOf(each) >= BIN_PX) ?? STEPS.at(-1)!;
  const edgesMs: number[] = [];
  for (let wall = startOf(zone.wall(fromMs), step); ; wall = next(wall, step)) {
    // A local midnight that the clocks skip begins its day an hour later.
    const atMs = zone.instant(wall.getTime()) ?? zone.instant(wall.getTime() + HOUR);
    if (atMs !== undefined && atMs > (edgesMs.at(-1) ?? Number.NEGATIVE_INFINITY)) edgesMs.push(atMs);
    if ((atMs ?? Number.NEGATIVE_INFINITY) > toMs) break;
  }
  return { unit: step.count === 1 ? step.unit : `${step.count} minutes`, edgesMs };
}

function startOf(wall: Date, { unit, ms }: Step): Date {
  const [year, month, day] = [wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate()];
  switch (unit) {
    case "minute":
    case "hour":
      return new Date(Math.floor(wall.getTime() / ms) * ms);
    case "day":
      return new Date(Date.UTC(year, month, day));
    case "week":
      return new Date(Date.UTC(year, month, day - ((wall.getUTCDay() + 6) % 7)));
    case "month":
      return new Date(Date.UTC(year, month, 1));
    case "year":
      return new Date(Date.UTC(year, 0, 1));
    default:
      return unit satisfies never;
  }
}

function next(wall: Date, { unit, ms }: Step): Date {
  const [year, month] = [wall.getUTCFullYear(), wall.getUTCMonth()];
  if (unit === "month") return new Date(Date.UTC(year, month + 1, 1));
  if (unit === "year") return new Date(Date.UTC(year + 1, 0, 1));
  return new Date(wall.getTime() + ms);
}

/** Returns an interval in words: `Mon 2026-03-02`, `2026-03-02 09:00 to 10:00`. */
export function binText(fromMs: number, toMs: number, unit: string, zone: ZonedTime): string {
  const date = (atMs: number): string => zone.minute(atMs).slice(0, 10);
  switch (unit) {
    case "day":
      return `${WEEKDAYS[zone.wall(fromMs).getUTCDay()]} ${date(fromMs)}`;
    case "week":
      return `Week from Mon ${date(fromMs)}`;
    case "month":
      return date(fromMs).slice(0, 7);
    case "year":
      return date(fromMs).slice(0, 4);
    default:
      return `${zone.minute(fromMs)} to ${zone.minute(toMs).slice(11)}`;
  }
}

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

import { DAY } from "./civil-date.js";
import { FieldSchedule } from "./field-schedule.js";
import { type ScheduleOptions, parse } from "./schedule.js";
import type { Transition } from "./time-zone.js";

const DEFAULT_LIMIT = 1000;
const MAX_WINDOW_MS = 100 * 366 * DAY * 1000;

export interface ExplainOptions extends ScheduleOptions {
  /** Start of the window, exclusive. The window ends with `toMs`, inclusive, and is at most 100 years long. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Maximum number of runs to list. Default 1000. */
  readonly limit?: number;
}

/** The runs of a schedule in a time window, as plain data. Times are epoch milliseconds. */
export interface ScheduleExplanation {
  readonly timeZone: string;
  /** Consecutive runs, beginning with the first one after `fromMs`. */
  readonly runs: readonly number[];
  /** End of the explained time: `toMs`, or the last listed run if there were more than `limit`. */
  readonly untilMs: number;
  /**
   * Changes of the zone's offset in the window, with or without effect. Empty for `@every`, which they do not affect.
   */
  readonly transitions: readonly ScheduleTransition[];
}

/** A change of a zone's offset from UTC, and its effects on a schedule on the affected days. */
export interface ScheduleTransition {
  /**
   * `gap`: the clock is set forward, and some wall times do not exist. `overlap`: the clock is set back, and some wall
   * times occur twice.
   */
  readonly kind: "gap" | "overlap";
  readonly atMs: number;
  readonly offsetBeforeMs: number;
  readonly offsetAfterMs: number;
  /**
   * Wall times that match the fields but have no run, such as `2024-03-10T02:30`: the wall time does not exist, or the
   * search skipped it.
   */
  readonly skipped: readonly string[];
  /** Runs at a wall time that already had a run before the clock was set back. */
  readonly repeated: readonly number[];
  /**
   * Runs after the change at a wall time that does not match the fields, because the search passed a missing midnight.
   */
  readonly misplaced: readonly number[];
}

/**
 * Lists the runs of a schedule in a window, and the effects of clock changes (daylight saving time) on them.
 *
 * @throws {@link ScheduleError} as `parseSchedule`; RangeError if the window is invalid or too long.
 */
export function explainSchedule(text: string, options: ExplainOptions): ScheduleExplanation {
  const { fromMs, toMs, limit = DEFAULT_LIMIT } = options;
  const schedule = parse(text, options);
  if (!(toMs >= fromMs && toMs - fromMs <= MAX_WINDOW_MS))
    throw new RangeError(`toMs (${toMs}) must be at most 100 years after fromMs (${fromMs})`);

  const runs: number[] = [];
  let untilMs = toMs;
  for (let run = schedule.next(fromMs); run !== undefined && run <= toMs; run = schedule.next(run)) {
    if (runs.length >= limit) {
      untilMs = runs.at(-1) ?? fromMs;
      break;
    }
    runs.push(run);
  }

  const transitions = schedule instanceof FieldSchedule ? explainTransitions(schedule, runs, { fromMs, untilMs }) : [];
  return { timeZone: schedule.timeZone, runs, untilMs, transitions };
}

/** The last second in RFC 3339, whose years have four digits. */
const LAST_RFC3339_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

/**
 * Like {@link explainSchedule}, for the next `count` runs after a time, at most 100 years ahead and until the year
 * 9999. Returns fewer runs if the schedule does not run again within five calendar years; `untilMs` is then the last
 * run.
 *
 * @throws {@link ScheduleError} as `parseSchedule`.
 */
export function explainNextRuns(
  text: string,
  options: ScheduleOptions & { readonly fromMs: number; readonly count: number },
): ScheduleExplanation {
  const { fromMs, count } = options;
  const schedule = parse(text, options);
  const endMs = Math.min(fromMs + MAX_WINDOW_MS, LAST_RFC3339_MS);
  const runs: number[] = [];
  let run = schedule.next(fromMs);
  for (; run !== undefined && run <= endMs && runs.length < count; run = schedule.next(run)) runs.push(run);
  const untilMs = run === undefined || runs.length === count ? (runs.at(-1) ?? fromMs) : endMs;
  const transitions = schedule instanceof FieldSchedule ? explainTransitions(schedule, runs, { fromMs, untilMs }) : [];
  return { timeZone: schedule.timeZone, runs, untilMs, transitions };
}

interface Window {
  readonly fromMs: number;
  readonly untilMs: number;
}

function explainTransitions(schedule: FieldSchedule, runs: readonly number[], window: Window): ScheduleTransition[] {
  const runTimes = new Set(runs);
  const found = schedule.zone
    .transitions(Math.floor(window.fromMs / 1000), Math.floor(window.untilMs / 1000))
    .map((transition) => ({ ...explainTransition(schedule, transition, runTimes, window), misplaced: [] as number[] }));
  let last = -1;
  for (const run of runs) {
    while (last + 1 < found.length && found[last + 1]!.atMs <= run) last++;
    if (last >= 0 && !matches(schedule, schedule.zone.wallAt(run / 1000))) found[last]!.misplaced.push(run);
  }
  return found;
}

function matches(schedule: FieldSchedule, wall: number): boolean {
  return schedule.matchesDay(wall) && schedule.matchesTimeOfDay(wall);
}

/**
 * Compares the days that a transition affects with the actual runs, minute by minute of wall time. Compares whole days,
 * because a clock change at midnight can skip a run at any hour of the day.
 */
function explainTransition(
  schedule: FieldSchedule,
  { at, offsetBefore, offsetAfter }: Transition,
  runTimes: ReadonlySet<number>,
  { fromMs, untilMs }: Window,
): Omit<ScheduleTransition, "misplaced"> {
  const { zone } = schedule;
  const firstDay = Math.floor((at + Math.min(offsetBefore, offsetAfter)) / DAY);
  const lastDay = Math.floor((at + Math.max(offsetBefore, offsetAfter)) / DAY);
  const skipped: string[] = [];
  const repeated: number[] = [];
  for (let wall = firstDay * DAY; wall < (lastDay + 1) * DAY; wall += 60) {
    if (!matches(schedule, wall)) continue;
    // The instants at which the clock showed this time: none, one, or two (if the offset is greater before than after).
    const instants = [wall - offsetBefore, wall - offsetAfter]
      .filter((instant, index, both) => zone.wallAt(instant) === wall && both.indexOf(instant) === index)
      .map((instant) => instant * 1000);
    const inWindow = instants.filter((instant) => instant > fromMs && instant <= untilMs);
    const runs = inWindow.filter((instant) => runTimes.has(instant));
    if (runs.length === 2) repeated.push(runs[1]!);
    else if (runs.length === 0 && (instants.length === 0 || inWindow.length > 0)) skipped.push(wallTime(wall));
  }
  return {
    kind: offsetAfter > offsetBefore ? "gap" : "overlap",
    atMs: at * 1000,
    offsetBeforeMs: offsetBefore * 1000,
    offsetAfterMs: offsetAfter * 1000,
    skipped,
    repeated,
  };
}

function wallTime(wall: number): string {
  return new Date(wall * 1000).toISOString().slice(0, 16);
}

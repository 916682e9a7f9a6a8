import type { FigureTable } from "./figure-table.js";

/** What the page of schedules' load shows, as JSON. */
export interface SpreadReport {
  readonly page: "spread";
  /** Whole hours. */
  readonly startMs: number;
  readonly endMs: number;
  readonly cronJobs: number;
  /** CronJobs that get new minutes. */
  readonly changes: number;
  readonly peakPods: { readonly before: number; readonly after: number };
  /** Those that there is anything of. */
  readonly measures: readonly SpreadMeasure[];
  /** Further days, which the maps by the hour leave out. */
  readonly daysLeft: number;
  readonly tables: readonly FigureTable[];
}

/** The load by one measure. Levels in its own unit: thousandths of a core, bytes, or a number. */
export interface SpreadMeasure {
  readonly name: "starts" | "pods" | "cpu" | "memory";
  readonly title: string;
  readonly before: LoadMaps;
  /** Absent: nothing changes. */
  readonly after?: LoadMaps;
}

export interface LoadMaps {
  /** The most at each minute of the hour, whatever the hour: 60. */
  readonly byMinuteOfHour: readonly number[];
  /** The hours of the day, in UTC, with the most at each minute: at most 24 rows of 60. */
  readonly byHour: readonly LoadRow[];
  /** Of several days the most in each hour, in UTC: rows of 24. */
  readonly byDay: readonly LoadRow[];
}

export interface LoadRow {
  /** `07:00`, `2026-01-01 Thu`. */
  readonly label: string;
  readonly levels: readonly number[];
}

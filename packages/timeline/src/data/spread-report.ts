import type { FigureTable } from "./figure-table.js";

/** Data of the page about the load of schedules, as JSON. */
export interface SpreadReport {
  readonly page: "spread";
  /** Start and end are on whole hours. */
  readonly startMs: number;
  readonly endMs: number;
  readonly cronJobs: number;
  /** CronJobs that get new minutes. */
  readonly changes: number;
  readonly peakPods: { readonly before: number; readonly after: number };
  /** Measures with a load above zero. */
  readonly measures: readonly SpreadMeasure[];
  /** Number of further days, which the hourly maps omit. */
  readonly daysLeft: number;
  readonly tables: readonly FigureTable[];
}

/** The load by one measure. Levels are in its unit: thousandths of a core, bytes, or a count. */
export interface SpreadMeasure {
  readonly name: "starts" | "pods" | "cpu" | "memory";
  readonly title: string;
  readonly before: LoadMaps;
  /** Absent when no schedule changes. */
  readonly after?: LoadMaps;
}

export interface LoadMaps {
  /** The maximum at each minute of the hour over all hours: 60 values. */
  readonly byMinuteOfHour: readonly number[];
  /** The maximum at each minute of each hour, in UTC: at most 24 rows of 60 values. */
  readonly byHour: readonly LoadRow[];
  /** For several days, the maximum in each hour of each day, in UTC: rows of 24 values. */
  readonly byDay: readonly LoadRow[];
}

export interface LoadRow {
  /** `07:00`, `2026-01-01 Thu`. */
  readonly label: string;
  readonly levels: readonly number[];
}

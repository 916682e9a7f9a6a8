import type { FigureTable } from "./figure-table.js";

/** What the page of many futures shows, as JSON. Timelines of single ones are packed beside it. */
export interface FuturesReport {
  readonly page: "futures";
  readonly startMs: number;
  readonly endMs: number;
  readonly kubernetes: string;
  readonly timeZoneData: string;
  readonly seeds: { readonly first: number; readonly last: number };
  /** Futures that were played: fewer than there are seeds when it was stopped. */
  readonly simulated: number;
  /** What a scenario says of itself. */
  readonly description?: string;
  /** What there is to say beside the figures. */
  readonly remarks: readonly string[];
  readonly tables: readonly FigureTable[];
  readonly load: LoadOverTime;
  /** Seeds whose timelines the page holds, in elements with the ids `seed-N`. */
  readonly embedded: readonly number[];
  /** The command line that plays one future, without its seed. */
  readonly command: string;
}

/** How much there was at once in each step of time, over all futures. */
export interface LoadOverTime {
  /** Start of the first step. */
  readonly fromMs: number;
  readonly stepMs: number;
  /** Of all together first, and then of single CronJobs and Jobs. */
  readonly groups: readonly LoadOverTimeOf[];
  /** CronJobs and Jobs that have no bands of their own. */
  readonly omittedGroups: number;
}

export interface LoadOverTimeOf {
  /** Absent: all together. */
  readonly object?: { readonly kind: "CronJob" | "Job"; readonly namespace: string; readonly name: string };
  readonly pods: LoadBand;
  /** Thousandths of a core. */
  readonly cpuMillis: LoadBand;
  readonly memoryBytes: LoadBand;
}

/** By step. */
export interface LoadBand {
  /** What half of the futures do not exceed. */
  readonly p50: readonly number[];
  readonly p95: readonly number[];
  /** The most in any, and the lowest seed that reached it. */
  readonly max: readonly number[];
  readonly seeds: readonly number[];
}
